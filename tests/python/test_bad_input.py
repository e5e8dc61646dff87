# tests/python/test_bad_input.py: wrong arguments raise what NumPy raises, for all functions that both have; each difference has a reason.
from __future__ import annotations

import inspect
import re
import warnings
from typing import Any

import numpy as np
import pardo as pp
import pytest
from numpy_names import BEFORE_2_2

pytestmark = pytest.mark.once

# A good call of each function: its name, then its arguments, which are names of VALUES or expressions without spaces.
CALLS = """
poly v; roots v; polyfit v u 1; shares_memory v u; may_share_memory v u
mintypecode ["f","d"]
all B; allclose v u; amax x; amin x; angle c; any B; append v u; apply_along_axis FSUM 0 x; apply_over_axes FSUMK x [0]; arange 5
argmax x; argmin x; argpartition v 1; argsort x; argwhere x; around x; array v; array2string v; array_equal v u; array_equiv v u
array_repr v; array_split v 3; array_str v; asanyarray v; asarray v; asarray_chkfinite v; ascontiguousarray v; asfortranarray v
astype v "f4"; atleast_1d v; atleast_2d v; atleast_3d v; average x; bartlett 5; bincount n; blackman 5; block [v,u]
broadcast_arrays x v; broadcast_shapes (2,3) (3,); broadcast_to v (2,3); can_cast "f4" "f8"; choose n [v,u,v]; clip v 1.0 2.0
column_stack (v,u); common_type v u; compress b v; concat (v,u); concatenate (v,u); convolve v u; copy v; copyto v u; corrcoef x
correlate v u; count_nonzero x; cov x; cross v u; cumprod x; cumsum x; cumulative_prod v; cumulative_sum v; delete v 1; diag v
diag_indices 3; diag_indices_from m; diagflat v; diagonal m; diff v; digitize v s; dot v u; dsplit t 2; dstack (v,u); ediff1d v
einsum "i,i->i" v u; einsum_path "i,i->i" v u; empty (2,3); empty_like v; expand_dims v 0; extract b v; eye 3; fill_diagonal m 2.0
fix v; flatnonzero v; flip x; fliplr x; flipud x; full (2,3) 1.5; full_like v 1.5; fromfunction FADD (2,3); geomspace 1.0 8.0
gradient v; hamming 5; hanning 5; histogram v; histogram2d v u; histogram_bin_edges v; histogramdd x; hsplit x 3; hstack (v,u); i0 v
identity 3; imag c; indices (2,3); inner v u; insert v 1 u; interp v s u; intersect1d v u; isclose v u; iscomplex c; iscomplexobj c
isdtype DT "numeric"; isfortran v; isin v u; isneginf v; isposinf v; isreal c; isrealobj c; ix_ k n; kaiser 5 2.0; kron v u
lexsort (v,u); linspace 0.0 1.0; logspace 0.0 1.0; mask_indices 3 TRIU; matrix_transpose x; max x; mean x; median x; meshgrid v u; min x
min_scalar_type 3; moveaxis x 0 1; nan_to_num v; nanargmax x; nanargmin x; nancumprod x; nancumsum x; nanmax x; nanmean x; nanmedian x
nanmin x; nanpercentile v 50.0; nanprod x; nanquantile v 0.5; nanstd x; nansum x; nanvar x; ndim v; nonzero v; ones (2,3); ones_like v
outer v u; packbits p; pad v 1; partition v 1; percentile v 50.0; permute_dims x; piecewise v [b] [1.0]; place v b u; polyadd v u
polyder v; polydiv v u; polyint v; polymul v u; polysub v u; polyval v u; prod x; promote_types "f4" "f8"; ptp x; put v k u
put_along_axis x y 1.0 1; putmask v b u; quantile v 0.5; ravel x; ravel_multi_index (k,k) (3,3); real c; real_if_close c; repeat v 2
require v; reshape x (3,2); resize v (2,3); result_type v u; roll v 1; rollaxis x 1; rot90 x; round v; row_stack (v,u); searchsorted s v
select [b] [v]; setdiff1d v u; setxor1d v u; shape v; sinc v; size v; sort x; sort_complex v; split v 3; squeeze x; stack (v,u); std x
sum x; swapaxes x 0 1; take v n; take_along_axis x y 1; tensordot v u 1; tile v 2; trace m; transpose x; trapezoid v; tri 3; tril m
tril_indices 3; tril_indices_from m; trim_zeros v; triu m; triu_indices 3; triu_indices_from m; union1d v u; unique v; unique_all v
unique_counts v; unique_inverse v; unique_values v; unpackbits p; unravel_index n (3,3); unstack x; unwrap v; vander v; var x; vdot v u
vsplit x 2; vstack (v,u); where b v u; zeros (2,3); zeros_like v; issubdtype "f4" "f8"; fromiter [1.0,2.0] float
frombuffer BYT
"""
UNARY = """
abs absolute acos acosh arccos arccosh arcsin arcsinh arctan arctanh asin asinh atan atanh cbrt ceil conj conjugate cos cosh deg2rad
degrees exp exp2 expm1 fabs floor frexp isfinite isinf isnan log log10 log1p log2 logical_not modf negative positive rad2deg radians
reciprocal rint sign signbit sin sinh spacing sqrt square tan tanh trunc
"""
BINARY = """
add arctan2 atan2 copysign divide divmod equal float_power floor_divide fmax fmin fmod greater greater_equal heaviside hypot less
less_equal logaddexp logaddexp2 logical_and logical_or logical_xor maximum minimum mod multiply nextafter not_equal pow power remainder
subtract true_divide vecdot
"""
WHOLE = "bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift gcd lcm left_shift right_shift"
VALUES: dict[str, Any] = {
    "x": np.arange(6.0).reshape(2, 3), "v": np.array([3.0, 1.0, 2.0]), "u": np.array([0.5, 1.5, 2.5]), "s": np.arange(3.0),
    "n": np.array([2, 0, 1]), "k": np.array([0, 1]), "b": np.array([True, False, True]), "m": np.arange(9.0).reshape(3, 3),
    "B": np.array([[True, False, True], [False, True, True]]), "c": np.array([1 + 2j, 3j, 2.0]), "t": np.arange(24.0).reshape(2, 3, 4),
    "y": np.array([[1, 0, 2], [0, 1, 1]]), "p": np.array([1, 200, 3], dtype="u1"), "zero_d": np.array(2.0), "empty": np.zeros(0),
    "five": np.arange(5.0), "w": np.zeros(3), "long": np.zeros(7),
}  # fmt: skip
OBJECTS = {
    "OBJ": object(), "DT": np.dtype("f4"), "BYT": b"12345678", "FSUM": lambda a: a.sum(), "FADD": lambda i, j: i + j,
}  # fmt: skip

# What is wrong with an argument, by what a good one would be.
NO_ARRAY = ["None", "'text'", "OBJ"]
SHAPES = ["zero_d", "empty", "five", "t"]
NUMBERS = ["'text'", "None", "OBJ"]
AXES = ["7", "-7", "1.5", "'text'", "(0,0)", "(0,7)"]
WORDS = ["'nonsense'", "7.5", "OBJ", "v"]
FAULTS = {
    "axis": AXES, "dtype": ["'text'", "OBJ", "1.5", "'O'"], "out": ["'text'", "1.5", "OBJ", "long", "(v,v)"],
    "where": ["v", "five"], "keepdims": ["'text'", "1.5", "OBJ"], "casting": ["'nonsense'", "7.5", "OBJ", "None", "v"],
    "initial": ["'text'", "OBJ", "v"], "copy": ["'text'", "OBJ"], "shape": ["1.5", "'text'", "(-3,)", "OBJ"],
}  # fmt: skip
FAULTS.update((key, WORDS) for key in ["mode", "kind", "side", "bitorder", "indexing", "method", "trim"])
INTEGERS = "k num n decimals offset axis1 axis2 M N ndmin start minlength count edge_order ndim ddof shift"
FAULTS.update((key, [*NUMBERS, "1.5"]) for key in INTEGERS.split())

# What differs from NumPy on purpose: a pattern of calls, what we raise (None: nothing), and the reason. The guide about differences from
# NumPy says the same to users.
DIFFERENCES: list[tuple[str, type[Exception] | None, str]] = [
    (r".*(None|'text'|OBJ).*", TypeError, "NumPy makes arrays of objects and texts, whose errors come from within"),
    (r".*dtype='O'\)", TypeError, "there are no arrays of objects"),
    (r".*\b(1|7)\.5\)", TypeError, "where NumPy truncates floats, or fails within, an integer is asked for"),
    (r"insert\(v, ('text'|None|OBJ), u\)", IndexError, "what is no index is an IndexError, as for floats"),
    (r"(trim_zeros|isin)\(.*(trim|kind)=.*\)", ValueError, "unknown words are a ValueError, whatever their type"),
    (r"isdtype\(.*\)", TypeError, "a kind that is no text, dtype or tuple is a TypeError"),
    (r"isdtype\('O', .numeric.\)", None, "dtypes may be named by texts"),
    (r"where\(b, (None, u|v, None)\)", ValueError, "there are no arrays of objects: None stands for an argument that is not given"),
    (r"(cumulative_\w+|geomspace|linspace|logspace|unstack)\(.*axis=\(0,[07]\)\)", TypeError, "a single axis is asked for"),
    (r"(mean|std|var)\(x, where=five\)", TypeError, "`where` has to be of bools, whatever its shape"),
    (r"(around|round|isneginf|isposinf)\(.*out=\(v,v\)\)", ValueError, "these are universal functions: a tuple has one array"),
    (r"(fix|clip|nan\w+|percentile|quantile)\(.*out=\(v,v\)\)", TypeError, "these are no universal functions: `out` is one array"),
    (
        r"(nan)?(median|percentile|quantile|vecdot)\(.*out=long\)",
        ValueError,
        "nothing is broadcast into `out`",
    ),
    (r"choose\(.*out=long\)", ValueError, "`out` of another shape is a ValueError, as elsewhere"),
    (r"reshape\(x, \(-3,\)\)", ValueError, "of negative extents only -1 has a meaning"),
    (r"tensordot\(.*\)", ValueError, "too few dimensions for the axes are a ValueError that says so"),
    (r"histogram2d\(.*zero_d.*\)", ValueError, "coordinates of other dimensions are a ValueError, as those of other lengths"),
    (r"tri[lu]\(zero_d\)", ValueError, "an array without dimensions has the wrong shape, not the wrong type"),
    (r"expand_dims\(v\)", None, "the array API standard has a default for `axis`"),
    (r"clip\(v, 1.0\)", None, "the array API standard has a default for `max`"),
    (r"polyder\(t\)|polydiv\(empty, u\)", None, "polynomials without coefficients are zero; further axes hold further polynomials"),
    (r"poly\(zero_d\)", None, "a single root is a root"),
    (r"take\(v, empty\)", None, "an empty list, which is of floats, is no index out of bounds"),
]


def _namespace(module: Any) -> dict[str, Any]:
    arrays = {name: value.copy() if module is np else pp.asarray(value) for name, value in VALUES.items()}
    return {**arrays, **OBJECTS, "FSUMK": module.sum, "TRIU": module.triu, "float": float}


def _settle(result: Any) -> None:
    if isinstance(result, pp.Array):
        result.wait()
    elif isinstance(result, (tuple, list)):
        for item in result:
            _settle(item)


def _outcome(module: Any, name: str, arguments: list[str], keywords: dict[str, str]) -> Any:
    """None for a call that goes well, else its exception; those of the data are raised when the results are waited for."""
    names = _namespace(module)
    positional = [eval(text, names) for text in arguments]
    by_name = {keyword: eval(text, names) for keyword, text in keywords.items()}
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            result = getattr(module, name)(*positional, **by_name)
            _settle([result, *positional, *by_name.values()])
    except Exception as error:
        return error
    return result if isinstance(result, np.ndarray) and result.dtype.kind in "OSUV" else None


def _public(error: BaseException) -> type:
    """The class of an exception that users can name: NumPy has some of its own below them."""
    return next(c for c in type(error).__mro__ if c.__module__ in ("builtins", "numpy.exceptions") and c.__name__ != "DTypePromotionError")


def _keywords(name: str) -> list[str]:
    f = getattr(np, name)
    if isinstance(f, np.ufunc):
        return ["out", "where", "dtype", "casting"]
    try:
        parameters = list(inspect.signature(f).parameters.values())
    except ValueError:
        return []
    return [p.name for p in parameters if p.name in FAULTS and p.kind is not p.POSITIONAL_ONLY and p.kind is not p.VAR_POSITIONAL]


def _bad_calls(name: str, arguments: list[str]) -> list[tuple[list[str], dict[str, str]]]:
    calls: list[tuple[list[str], dict[str, str]]] = []
    try:
        order = list(inspect.signature(getattr(np, name)).parameters)
    except ValueError:
        order = []
    for i, good in enumerate(arguments):
        if good in VALUES:
            faults = NO_ARRAY + SHAPES
        elif i < len(order) and order[i] in FAULTS:
            faults = FAULTS[order[i]]
        else:
            faults = NUMBERS if re.fullmatch(r"-?[\d.]+", good) else []
        calls += [([*arguments[:i], bad, *arguments[i + 1 :]], {}) for bad in faults]
        calls.append((arguments[:i], {}))
    calls.append((arguments + ["v"] * 10, {}))
    calls.append((arguments, {"nonsense": "1"}))
    for keyword in _keywords(name):
        if keyword in order[: len(arguments)] or (name.startswith(("cum", "nancum")) and keyword == "out"):
            continue  # given already; NumPy dies of `out` of another shape there
        calls += [(arguments, {keyword: bad}) for bad in FAULTS[keyword]]
    return calls


GOOD = [(call.split()[0], call.split()[1:]) for call in CALLS.replace("\n", ";").split(";") if call.strip()]
GOOD += [(name, ["v"]) for name in UNARY.split()] + [(name, ["v", "u"]) for name in BINARY.split()]
GOOD += [(name, ["n", "n"]) for name in WHOLE.split()] + [(name, ["n"]) for name in ("bitwise_count", "bitwise_invert", "invert")]
GOOD += [("ldexp", ["v", "n"]), ("matmul", ["x", "m"]), ("matvec", ["x", "v"]), ("vecmat", ["v", "m"]), ("bitwise_not", ["n"])]

# What NumPy 2.0 lacks, or takes or refuses otherwise than later versions.
OTHERWISE_BEFORE_2_2 = {"array2string", "clip", "matvec", "nonzero", "size", "take_along_axis", "trim_zeros", "unique", "vecmat"}


def _text(name: str, arguments: list[str], keywords: dict[str, str]) -> str:
    return f"{name}({', '.join([*arguments, *(f'{k}={v}' for k, v in keywords.items())])})"


def _differs(theirs: Any, ours: Any) -> str:
    """How the outcomes differ; empty if they do not."""
    if ours is None:
        return f"NumPy raises {theirs!r}, we do not" if isinstance(theirs, BaseException) else ""
    if theirs is None:
        return f"NumPy takes it, we raise {ours!r}"
    if isinstance(theirs, np.ndarray):  # of objects or texts, which nobody has here
        return "" if isinstance(ours, TypeError) else f"NumPy makes an array of {theirs.dtype}, we raise {ours!r}"
    return "" if isinstance(ours, _public(theirs)) else f"NumPy raises {theirs!r}, we raise {ours!r}"


def _reason(text: str, ours: BaseException | None) -> int | None:
    for i, (pattern, error, _) in enumerate(DIFFERENCES):
        if (ours is None if error is None else isinstance(ours, error)) and re.fullmatch(pattern, text):
            return i
    return None


@pytest.mark.parametrize("name", [name for name, _ in GOOD if not (BEFORE_2_2 and name in OTHERWISE_BEFORE_2_2)])
def test_exceptions_are_numpys(name):
    arguments = next(a for n, a in GOOD if n == name)
    assert _outcome(pp, name, arguments, {}) is None
    wrong = []
    for positional, keywords in _bad_calls(name, arguments):
        text = _text(name, positional, keywords)
        ours = _outcome(pp, name, positional, keywords)
        difference = _differs(_outcome(np, name, positional, keywords), ours)
        if difference and _reason(text, ours) is None:
            wrong.append(f"{text}: {difference}")
    assert not wrong, "\n".join(wrong)


def test_all_functions_take_part():
    functions = {n for n in dir(np) if not n.startswith("_") and callable(getattr(np, n)) and not inspect.isclass(getattr(np, n))}
    left_out = {"geterr", "geterrcall", "seterr", "seterrcall"} | {
        "from_dlpack",
        "fromstring",
        "get_include",
        "show_config",
    }  # these take no arguments that both know
    left_out |= {
        "fromfile",
        "fromregex",
        "genfromtxt",
        "load",
        "loadtxt",
        "save",
        "savetxt",
        "savez",
        "savez_compressed",
    }  # NumPy's own raise
    asked = {name for name, _ in GOOD}
    ours = {n for n in functions if hasattr(pp, n) and getattr(pp, n) is not getattr(np, n)}
    assert ours - asked - left_out == set()


def test_unclear_messages():
    """What was wrong stands in the message, after the name of the function."""
    for call, start in [
        (lambda x: pp.sum(x, keepdims="yes"), "sum: keepdims must be an integer, not str"),
        (lambda x: pp.add(x, x, casting=x), "add: casting must be a text, not Array"),
        (lambda x: pp.add(x, x, dtype="text"), "add: dtype 'text' is not supported; supported are bool, "),
        (lambda x: pp.add(x, x, out=(x, x)), "add: out must be an array or a tuple of one array, not a tuple of 2"),
        (lambda x: pp.add(x, x, where=object()), "add: where must be a bool or an array of bools, not object"),
        (lambda x: pp.searchsorted(x, x, side=x), "searchsorted: side must be a text, 'left' or 'right', not Array"),
        (lambda x: pp.sort(x, kind="fast"), "sort: kind is 'fast'; it must be 'quicksort', 'heapsort', 'mergesort' or 'stable'"),
        (lambda x: pp.polyval(1.0, x), "polyval: a sequence of coefficients is expected, not a single number"),
        (lambda x: pp.asarray(x, copy="no"), "asarray: copy must be True, False or None, not the text 'no'"),
        (lambda x: pp.nanvar(x, ddof=None), "nanvar: ddof must be a real number, not NoneType"),
    ]:
        with pytest.raises((TypeError, ValueError), match=f"^{re.escape(start)}"):
            call(pp.asarray([1.0, 2.0]))


CASTS = [("f8", "f4"), ("f4", "f8"), ("f8", "i4"), ("i4", "f4"), ("f8", "f8"), ("c16", "f8")]


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("casting", ["no", "equiv", "safe", "same_kind", "unsafe"])
@pytest.mark.parametrize("name", ["add", "negative", "ldexp", "vecdot", "spacing"])
def test_rules_of_casting(name, casting):
    """They are asked for operands, which `dtype` casts, and for `out`."""
    f, g = getattr(np, name), getattr(pp, name)
    for source, target in CASTS:
        x, where = np.asarray([1, 2, 3]).astype(source), np.asarray([True, False, True])
        y = [np.asarray([1, 2, 3], "i4")] if name == "ldexp" else [x] if f.nin == 2 else []
        for keywords in ({"out": True}, {"dtype": target}, {"out": True, "where": where}):
            if (name == "vecdot" and "where" in keywords) or (name in ("ldexp", "spacing") and ("dtype" in keywords or source[0] != "f")):
                continue
            made = np.full(() if name == "vecdot" else 3, 7).astype(target)
            theirs, ours = ({**keywords, "out": a} if "out" in keywords else keywords for a in (made, pp.asarray(made)))
            try:
                expected = f(x, *y, casting=casting, **theirs)
            except TypeError:
                with pytest.raises(TypeError, match=f"^{name}: "):
                    g(*map(pp.asarray, [x, *y]), casting=casting, **ours)
                continue
            got = g(*map(pp.asarray, [x, *y]), casting=casting, **ours)
            assert got.dtype == expected.dtype
            np.testing.assert_array_equal(pp.asnumpy(got), expected)
