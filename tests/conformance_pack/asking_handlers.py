"""The tools of the official conformance suite that ask their client."""

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from generated.models.conformance.confirm_delete import (
    ConfirmDeleteInput,
    ConfirmDeleteOutput,
)
from generated.models.conformance.multi_input import (
    MultiInputInput,
    MultiInputOutput,
)
from generated.models.conformance.test_input_required_result_capabilities import (
    TestInputRequiredResultCapabilitiesInput,
    TestInputRequiredResultCapabilitiesOutput,
)
from generated.models.conformance.test_input_required_result_elicitation import (
    TestInputRequiredResultElicitationInput,
    TestInputRequiredResultElicitationOutput,
)
from generated.models.conformance.test_input_required_result_list_roots import (
    TestInputRequiredResultListRootsInput,
    TestInputRequiredResultListRootsOutput,
)
from generated.models.conformance.test_input_required_result_multi_round import (
    TestInputRequiredResultMultiRoundInput,
    TestInputRequiredResultMultiRoundOutput,
)
from generated.models.conformance.test_input_required_result_multiple_inputs import (
    TestInputRequiredResultMultipleInputsInput,
    TestInputRequiredResultMultipleInputsOutput,
)
from generated.models.conformance.test_input_required_result_request_state import (
    TestInputRequiredResultRequestStateInput,
    TestInputRequiredResultRequestStateOutput,
)
from generated.models.conformance.test_input_required_result_sampling import (
    TestInputRequiredResultSamplingInput,
    TestInputRequiredResultSamplingOutput,
)
from generated.models.conformance.test_input_required_result_tampered_state import (
    TestInputRequiredResultTamperedStateInput,
    TestInputRequiredResultTamperedStateOutput,
)
from generated.models.conformance.test_tool_with_task import (
    TestToolWithTaskInput,
    TestToolWithTaskOutput,
)

from gateway.contract.connector import tool_handler
from gateway.contract.context import CallContext
from gateway.contract.policies.questions import (
    Elicitation,
    Elicited,
    RootsQuestion,
    Sampled,
    Sampling,
)

NAME: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {"name": {"type": "string"}},
    "required": ["name"],
}
CONFIRM: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {"ok": {"type": "boolean"}},
    "required": ["ok"],
}


async def _named(context: CallContext, message: str, key: str = "user_name") -> str:
    answer = await context.ask(message, NAME, key=key)
    return str(answer.content.get("name", "nobody"))


@tool_handler
async def confirm_delete(
    arguments: ConfirmDeleteInput, context: CallContext
) -> ConfirmDeleteOutput:
    """Deletes nothing, whatever the user says."""
    form = {"type": "object", "properties": {"confirm": {"type": "boolean"}}}
    answer = await context.ask(f"Delete {arguments.filename}?", form)
    is_confirmed = answer.content.get("confirm") is True
    return ConfirmDeleteOutput(
        text=f"{'Deleted' if is_confirmed else 'Kept'} {arguments.filename}."
    )


@tool_handler
async def multi_input(_: MultiInputInput, context: CallContext) -> MultiInputOutput:
    """Two questions at once."""
    forms = {
        "first": Elicitation("Your first name?", NAME),
        "last": Elicitation("Your last name?", NAME),
    }
    answers = await context.ask_all(forms)
    names = [each.content["name"] for each in answers.values() if isinstance(each, Elicited)]
    return MultiInputOutput(text=" ".join(names))


@tool_handler
async def tool_with_task(_: TestToolWithTaskInput, context: CallContext) -> TestToolWithTaskOutput:
    """Asks at once, and then takes its time."""
    name = await _named(context, "What is your name?")
    await asyncio.sleep(1)
    return TestToolWithTaskOutput(text=f"Hello, {name}!")


@tool_handler
async def input_required_result_elicitation(
    _: TestInputRequiredResultElicitationInput, context: CallContext
) -> TestInputRequiredResultElicitationOutput:
    """Greets."""
    name = await _named(context, "What is your name?")
    return TestInputRequiredResultElicitationOutput(text=f"Hello, {name}!")


@tool_handler
async def input_required_result_sampling(
    _: TestInputRequiredResultSamplingInput, context: CallContext
) -> TestInputRequiredResultSamplingOutput:
    """What the model says."""
    question = "What is the capital of France?"
    answer = await context.sample(question, max_tokens=100, key="capital_question")
    return TestInputRequiredResultSamplingOutput(text=answer.text[:400])


@tool_handler
async def input_required_result_list_roots(
    _: TestInputRequiredResultListRootsInput, context: CallContext
) -> TestInputRequiredResultListRootsOutput:
    """The names of the roots."""
    roots = await context.roots(key="client_roots")
    text = ", ".join(each.name or each.uri for each in roots)
    return TestInputRequiredResultListRootsOutput(text=f"Roots: {text}"[:400])


@tool_handler
async def input_required_result_request_state(
    _: TestInputRequiredResultRequestStateInput, context: CallContext
) -> TestInputRequiredResultRequestStateOutput:
    """The gateway has checked the state when this ends."""
    await context.ask("Please confirm", CONFIRM, key="confirm")
    return TestInputRequiredResultRequestStateOutput(text="state-ok")


@tool_handler
async def input_required_result_tampered_state(
    _: TestInputRequiredResultTamperedStateInput, context: CallContext
) -> TestInputRequiredResultTamperedStateOutput:
    """The same, with a state that the suite changes."""
    await context.ask("Please confirm", CONFIRM, key="confirm")
    return TestInputRequiredResultTamperedStateOutput(text="state-ok")


@tool_handler
async def input_required_result_multiple_inputs(
    _: TestInputRequiredResultMultipleInputsInput, context: CallContext
) -> TestInputRequiredResultMultipleInputsOutput:
    """Three questions at once."""
    greeting = {"role": "user", "content": {"type": "text", "text": "Generate a greeting"}}
    answers = await context.ask_all(
        {
            "user_name": Elicitation("What is your name?", NAME),
            "greeting": Sampling(messages=[greeting], max_tokens=50),
            "client_roots": RootsQuestion(),
        }
    )
    text = f"Answers: {', '.join(answers)}"
    return TestInputRequiredResultMultipleInputsOutput(text=text)


@tool_handler
async def input_required_result_multi_round(
    _: TestInputRequiredResultMultiRoundInput, context: CallContext
) -> TestInputRequiredResultMultiRoundOutput:
    """Two rounds of questions."""
    name = await _named(context, "Step 1: What is your name?", "step1")
    form = {"type": "object", "properties": {"color": {"type": "string"}}, "required": ["color"]}
    color = await context.ask("Step 2: What is your favorite color?", form, key="step2")
    text = f"{name} likes {color.content.get('color')}."
    return TestInputRequiredResultMultiRoundOutput(text=text)


@tool_handler
async def input_required_result_capabilities(
    _: TestInputRequiredResultCapabilitiesInput, context: CallContext
) -> TestInputRequiredResultCapabilitiesOutput:
    """Asks whom the client can ask."""
    if context.can_ask("elicitation"):
        text = await _named(context, "What is your name?")
    else:
        answer = await context.sample("Say a name.", max_tokens=20, key="name")
        text = answer.text if isinstance(answer, Sampled) else ""
    return TestInputRequiredResultCapabilitiesOutput(text=text[:400])
