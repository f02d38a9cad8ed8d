"""Bytes of bodies in memory: bounded in all and for one host, and given back."""

from gateway.limits.budgets import BodyBudgets, BodyCharge, ByteBudget


def test_one_host_may_hold_its_part_and_all_together_the_whole() -> None:
    budget = ByteBudget(10, 4)
    assert budget.take("a", 4)
    assert not budget.take("a", 1)
    assert budget.take("b", 4)
    assert not budget.take("c", 3)
    budget.give("a", 4)
    assert budget.take("c", 3)
    assert budget.taken == 7


def test_what_strangers_hold_is_not_missing_to_callers() -> None:
    budgets = BodyBudgets(ByteBudget(4, 4), ByteBudget(8, 8))
    stranger, caller = BodyCharge(budgets, "a"), BodyCharge(budgets, "a")
    assert stranger.add(4, is_known=False)
    assert not stranger.add(1, is_known=False)
    assert caller.add(8, is_known=True)
    assert not caller.add(1, is_known=True)
    for charge in (stranger, caller, stranger):
        charge.release()
    assert (budgets.strangers.taken, budgets.callers.taken) == (0, 0)
    assert budgets.strangers._of_host == {}
