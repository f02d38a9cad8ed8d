"""A program that runs the command line may say how jobs are processed."""

from gateway.app import Gateway
from gateway.cli.edge import run
from gateway.job_policy import WORK_POLICY


def test_a_command_works_by_the_policy_of_its_program(cli, monkeypatch):
    policies = []
    monkeypatch.setattr(
        "gateway.cli.serving.serve.serve",
        lambda _settings, _ready, options: policies.append(options.work),
    )
    own = WORK_POLICY.in_each_row(lease_seconds=1.0)
    assert run(["serve"], own) == 0
    assert cli("serve").code == 0
    assert policies == [own, WORK_POLICY]


def test_what_a_local_call_leaves_to_do_is_done_by_that_policy_too(cli, monkeypatch):
    policies = []
    set_work_policy = Gateway.set_work_policy

    def noted(self, policy):
        policies.append(policy)
        set_work_policy(self, policy)

    monkeypatch.setattr(Gateway, "set_work_policy", noted)
    own = WORK_POLICY.in_each_row(attempts=2)
    assert run(["call", "example.greet", "--json", '{"name": "Ada"}'], own) == 0
    assert run(["webhooks", "list"], own) == 0
    assert policies == [own, own]
