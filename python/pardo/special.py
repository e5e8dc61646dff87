# python/pardo/special.py: special functions, by SciPy's names. Most are rows of src/graph/ops.def.
"""Special functions, by the names of `scipy.special`."""

from __future__ import annotations

import importlib as _importlib
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from pardo._base import face as _face
from pardo._base import public_names as _public_names
from pardo._core import _beta as beta
from pardo._core import _betainc as betainc
from pardo._core import _betaincc as betaincc
from pardo._core import _betainccinv as betainccinv
from pardo._core import _betaincinv as betaincinv
from pardo._core import _betaln as betaln
from pardo._core import _binom as binom
from pardo._core import _cosm1 as cosm1
from pardo._core import _dawsn as dawsn
from pardo._core import _digamma as digamma
from pardo._core import _ellipe as ellipe
from pardo._core import _ellipeinc as ellipeinc
from pardo._core import _ellipk as ellipk
from pardo._core import _ellipkinc as ellipkinc
from pardo._core import _ellipkm1 as ellipkm1
from pardo._core import _entr as entr
from pardo._core import _erf as erf
from pardo._core import _erfc as erfc
from pardo._core import _erfcinv as erfcinv
from pardo._core import _erfcx as erfcx
from pardo._core import _erfi as erfi
from pardo._core import _erfinv as erfinv
from pardo._core import _exp1 as exp1
from pardo._core import _exp10 as exp10
from pardo._core import _expi as expi
from pardo._core import _expit as expit
from pardo._core import _expn as expn
from pardo._core import _exprel as exprel
from pardo._core import _gamma as gamma
from pardo._core import _gammainc as gammainc
from pardo._core import _gammaincc as gammaincc
from pardo._core import _gammainccinv as gammainccinv
from pardo._core import _gammaincinv as gammaincinv
from pardo._core import _gammaln as gammaln
from pardo._core import _gammasgn as gammasgn
from pardo._core import _huber as huber
from pardo._core import _i0 as i0
from pardo._core import _i0e as i0e
from pardo._core import _i1 as i1
from pardo._core import _i1e as i1e
from pardo._core import _j0 as j0
from pardo._core import _j1 as j1
from pardo._core import _jn as jn
from pardo._core import _k0 as k0
from pardo._core import _k0e as k0e
from pardo._core import _k1 as k1
from pardo._core import _k1e as k1e
from pardo._core import _kl_div as kl_div
from pardo._core import _log_expit as log_expit
from pardo._core import _log_ndtr as log_ndtr
from pardo._core import _loggamma as loggamma
from pardo._core import _logit as logit
from pardo._core import _ndtr as ndtr
from pardo._core import _ndtri as ndtri
from pardo._core import _poch as poch
from pardo._core import _pseudo_huber as pseudo_huber
from pardo._core import _rel_entr as rel_entr
from pardo._core import _rgamma as rgamma
from pardo._core import _wofz as wofz
from pardo._core import _xlog1py as xlog1py
from pardo._core import _xlogy as xlogy
from pardo._core import _y0 as y0
from pardo._core import _y1 as y1
from pardo._core import _yn as yn
from pardo._core import cbrt, exp2, expm1, log1p

if _TYPE_CHECKING:
    from pardo._analysis.log_sums import log_softmax as log_softmax
    from pardo._analysis.log_sums import logsumexp as logsumexp
    from pardo._analysis.log_sums import softmax as softmax
    from pardo._analysis.special import comb as comb
    from pardo._analysis.special import factorial as factorial
    from pardo._analysis.special import polygamma as polygamma
    from pardo._analysis.special import sph_harm_y as sph_harm_y
    from pardo._analysis.special import zeta as zeta
    from pardo._functions.arithmetic import sinc as sinc

psi = digamma

# Functions of arrays in Python, by the file that defines them, which is read at the first use of a name.
_FILES = {
    "_analysis.log_sums": "log_softmax logsumexp softmax",
    "_analysis.special": "comb factorial polygamma sph_harm_y zeta",
}
_FILE_OF = {name: file for file, names in _FILES.items() for name in names.split()}

__all__ = [
    "beta",
    "betainc",
    "betaincc",
    "betainccinv",
    "betaincinv",
    "betaln",
    "binom",
    "cbrt",
    "comb",
    "cosm1",
    "dawsn",
    "digamma",
    "ellipe",
    "ellipeinc",
    "ellipk",
    "ellipkinc",
    "ellipkm1",
    "entr",
    "erf",
    "erfc",
    "erfcinv",
    "erfcx",
    "erfi",
    "erfinv",
    "exp1",
    "exp2",
    "exp10",
    "expi",
    "expit",
    "expm1",
    "expn",
    "exprel",
    "factorial",
    "gamma",
    "gammainc",
    "gammaincc",
    "gammainccinv",
    "gammaincinv",
    "gammaln",
    "gammasgn",
    "huber",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "j0",
    "j1",
    "jn",
    "k0",
    "k0e",
    "k1",
    "k1e",
    "kl_div",
    "log1p",
    "log_expit",
    "log_ndtr",
    "log_softmax",
    "loggamma",
    "logit",
    "logsumexp",
    "ndtr",
    "ndtri",
    "poch",
    "polygamma",
    "pseudo_huber",
    "psi",
    "rel_entr",
    "rgamma",
    "sinc",
    "softmax",
    "sph_harm_y",
    "wofz",
    "xlog1py",
    "xlogy",
    "y0",
    "y1",
    "yn",
    "zeta",
]


def __getattr__(name: str) -> _Any:
    if name == "sinc":
        return globals().setdefault(name, _face.public("sinc"))
    if name not in _FILE_OF:
        from pardo._base import absent

        raise absent.missing(__name__, name)
    value = _public_names.say(getattr(_importlib.import_module(f"pardo.{_FILE_OF[name]}"), name), name, "pardo.special")
    return globals().setdefault(name, value)


def __dir__() -> list[str]:
    return __all__


_public_names.answer(globals())
