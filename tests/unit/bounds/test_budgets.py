"""Bytes of bodies in memory: bounded in all and for one host, and given back."""

from gateway.bounds.shares import BodyBudgets, BodyCharge, ByteBudget


def test_one_host_may_hold_its_part_and_all_together_the_whole() -> None:
    budget = ByteBudget(10, 4)
    assert budget.take("a", 4)
    assert not budget.take("a", 1)
    assert budget.take("b", 4)
    assert not budget.take("c", 3)
    budget.give("a", 4)
    assert budget.take("c", 3)
    assert budget.taken == 7


def test_a_proxy_is_too_much_only_together_with_all_others() -> None:
    budget = ByteBudget(10, 4)
    assert budget.take(None, 9)
    assert not budget.take(None, 2)
    budget.give(None, 9)
    assert budget.taken == 0


def test_what_unauthenticated_clients_hold_is_not_missing_to_callers() -> None:
    budgets = BodyBudgets(ByteBudget(4, 4), ByteBudget(8, 8))
    unauthenticated, caller = BodyCharge(budgets, "a"), BodyCharge(budgets, "a")
    assert unauthenticated.take(4, "a", is_authenticated=False)
    assert not unauthenticated.take(1, "a", is_authenticated=False)
    assert caller.take(8, "a", is_authenticated=True)
    assert not caller.take(1, "a", is_authenticated=True)
    for charge in (unauthenticated, caller, unauthenticated):
        charge.release()
    assert (budgets.unauthenticated.taken, budgets.callers.taken) == (0, 0)
    assert budgets.unauthenticated._of_host == {}


def test_what_waits_for_its_turn_is_an_unauthenticated_clients_until_it_is_read() -> None:
    budgets = BodyBudgets(ByteBudget(8, 4), ByteBudget(8, 8))
    charge, left = BodyCharge(budgets, None), BodyCharge(budgets, "proxy")
    assert charge.queue(2)
    assert charge.queue(2)
    assert left.queue(4)
    assert not charge.queue(1)
    assert charge.take(6, "a", is_authenticated=True)
    assert (budgets.unauthenticated.taken, budgets.callers.taken) == (4, 6)
    for each in (charge, left, left):
        each.release()
    assert (budgets.unauthenticated.taken, budgets.callers.taken) == (0, 0)
    assert budgets.unauthenticated._of_host == {}
