# tests/python/test_plan.py: the picture of a plan that notebooks show: it holds every step, and is well-formed whatever names are in it.
import pickle
import re
from xml.etree import ElementTree

import numpy as np
import pardo as pp

SVG = "{http://www.w3.org/2000/svg}"


def picture(plan) -> ElementTree.Element:
    """The page part of a plan, parsed."""
    return ElementTree.fromstring(plan._repr_html_())


def boxes(plan, kind: str) -> list[list[str]]:
    """The lines of all boxes of a kind."""
    return [[t.text for t in g.iter(f"{SVG}text")] for g in picture(plan).iter(f"{SVG}g") if g.get("class") == kind]


def kernels(plan) -> list[str]:
    return re.findall(r"(?m)^  kernel  (\w+):", plan)


def program():
    """Products, sums and sorts with kernels around them."""
    x, w = pp.asarray(np.ones((40, 30))), pp.asarray(np.ones((30, 20)))
    h = pp.maximum(pp.exp(x / 3) @ w + 1, 0)
    return pp.sort(h.sum(axis=0) ** 2) + h.mean()


def test_every_kernel_and_call_is_in_the_picture():
    plan = pp.explain(program())
    assert sorted(lines[0] for lines in boxes(plan, "kernel")) == sorted(kernels(plan))
    assert sorted(lines[0] for lines in boxes(plan, "call")) == ["matmul", "sort"]
    assert all("test_plan.py:" in lines[-1] for lines in boxes(plan, "call"))


def test_what_a_kernel_does_is_in_its_box():
    x = pp.asarray(np.ones((40, 30)))
    y = pp.sqrt(x + 1) + pp.sqrt(x + 2)
    words = " ".join(line for lines in boxes(pp.explain(y), "kernel") for line in lines)
    assert "sqrt" in words
    assert "add" in words
    assert "writes" in words


def test_arrays_between_kernels_are_labelled():
    x = pp.asarray(np.ones((40, 30), dtype="float32"))
    plan = pp.explain(pp.sort(x * 2) + 1)
    assert boxes(plan, "input") == [["float32 (40, 30)"]]
    assert boxes(plan, "result") == [["float32 (40, 30)"]] * 2
    assert boxes(plan, "asked") == [["float32 (40, 30)"]]
    # From the input through three steps to the result: six lines, of which three end at a step.
    assert len(list(picture(plan).iter(f"{SVG}path"))) == 6
    assert len(list(picture(plan).iter(f"{SVG}polygon"))) == 3


def test_inputs_that_look_alike_have_one_label():
    total = sum([pp.asarray(np.ones(50)) for _ in range(9)], pp.asarray(np.zeros(50)))
    plan = pp.explain(total)
    if len(kernels(plan)) == 1:  # fusion is on
        assert boxes(plan, "input") == [["10 arrays float64 (50,)"]]


def test_nothing_lies_on_something_else():
    for g in (frames := [g.find(f"{SVG}rect") for g in picture(pp.explain(program())).iter(f"{SVG}g") if g.get("class")]):
        x, y, width, height = (float(g.get(name)) for name in ("x", "y", "width", "height"))
        for other in frames:
            if other is g:
                continue
            x2, y2, width2, height2 = (float(other.get(name)) for name in ("x", "y", "width", "height"))
            assert x + width <= x2 or x2 + width2 <= x or y + height <= y2 or y2 + height2 <= y


def test_names_are_escaped():
    namespace = {"pp": pp, "x": pp.asarray(np.ones((40, 30)))}
    exec(compile("y = pp.sort(x)", "<b>&.py", "exec"), namespace)
    plan = pp.explain(namespace["y"])
    assert "<b>" not in plan._repr_html_()
    assert boxes(plan, "call")[0][-1] == "<b>&.py:1"


def test_the_text_is_below_the_picture():
    plan = pp.explain(program())
    assert "".join(picture(plan).find("details/pre").itertext()) == str(plan)


def test_long_plans_are_cut():
    x = pp.asarray(np.ones((40, 30)))
    for _ in range(50):
        x = pp.sort(x)
    plan = pp.explain(x)
    assert len(boxes(plan, "call")) == 40
    assert "The first 40 of 50 steps." in plan._repr_html_()


def test_a_plan_of_nothing():
    assert pp.explain(pp.zeros(3).wait())._repr_html_() == "<p>nothing is pending</p>"
    assert pp.explain()._repr_html_() == "<p>nothing is pending</p>"


def test_what_one_part_of_a_plan_computes_is_not_planned_again():
    """Two calls that read one array, and a kernel that reads it too."""
    x = pp.asarray(np.ones((40, 30))) * 2
    plan = pp.explain(pp.sort(x), pp.cumulative_sum(x, axis=0), x + 1)
    assert sum(name.startswith("multiply") for name in kernels(plan)) == 1


def test_the_plan_is_what_runs():
    y = program()
    planned = kernels(pp.explain(y))
    with pp.profile() as p:
        y.wait()
    assert sorted(planned) == sorted(r["name"] for r in p.records if r["activity"] == "kernel")


def test_plans_are_pickled():
    plan = pp.explain(program())
    other = pickle.loads(pickle.dumps(plan))
    assert other == plan
    assert other._repr_html_() == plan._repr_html_()


def test_explain_says_where_nothing_is_pending():
    x = (pp.ones(3) + 1).wait()
    assert pp.explain(x) == "nothing is pending\n"
    assert "nothing is pending" in pp.explain(x)._repr_html_()
