from tidegate.policies import Action
from tidegate.proxy.config import Detector
from tidegate.proxy.duty import NEVER, Duty, Terms, duties


def test_terms_are_as_configured() -> None:
    asked = {"input": {"timeout_ms": 20, "on_error": "flag"}, "output": {"on_error": "allow"}}
    made = duties({"a": Detector.model_validate(asked), "b": Detector()})

    assert made == {
        "a": Duty(Terms(20_000_000, Action.FLAG), Terms(NEVER, Action.ALLOW)),
        "b": Duty(),
    }
