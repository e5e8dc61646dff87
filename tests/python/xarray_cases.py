# tests/python/xarray_cases.py: what xarray's guide computes, by sections: functions of an array, one with missing values, a namespace.
from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pardo as pp
import pytest

xr = pytest.importorskip("xarray")

GUIDE: dict[str, dict[str, Callable[..., Any]]] = {
    "basic math": {
        "arithmetic": lambda t, h, xp: -t * 2 + t**2 / 3 - 1 % (abs(t) + 1),
        "comparisons": lambda t, h, xp: (t > 0) & (t < 1) | ~(t != t),
        "ufuncs": lambda t, h, xp: np.sin(t) + np.exp(t) * np.hypot(t, 1) + np.maximum(t, 0),
        "clip": lambda t, h, xp: t.clip(-1, 1),
        "clip_min": lambda t, h, xp: t.clip(min=0),
        "round": lambda t, h, xp: t.round(2),
        "transpose": lambda t, h, xp: t.T,
        "matmul": lambda t, h, xp: t @ t.isel(time=0),
        "dot": lambda t, h, xp: xr.dot(t, t, dim="x"),
        "dot_all": lambda t, h, xp: t.dot(t),
        "conj": lambda t, h, xp: (t + 1j * t).conj().imag,
        "astype": lambda t, h, xp: t.astype("f4"),
        "where_fn": lambda t, h, xp: xr.where(t > 0, t, -t),
        "isin": lambda t, h, xp: t.round(0).isin([0, 1]),
        "inplace": lambda t, h, xp: t.copy().__iadd__(1),
    },
    "missing values": {
        "isnull": lambda t, h, xp: h.isnull(),
        "notnull": lambda t, h, xp: h.notnull(),
        "count": lambda t, h, xp: h.count("x"),
        "fillna": lambda t, h, xp: h.fillna(-1),
        "fillna_array": lambda t, h, xp: h.fillna(t),
        "ffill": lambda t, h, xp: h.ffill("time"),
        "bfill": lambda t, h, xp: h.bfill("time"),
        "ffill_limit": lambda t, h, xp: h.ffill("time", limit=1),
        "dropna": lambda t, h, xp: h[:, :1, :2].dropna("time"),
        "dropna_all": lambda t, h, xp: h.dropna("time", how="all"),
        "interpolate_na": lambda t, h, xp: h.interpolate_na("time"),
        "interpolate_na_fill": lambda t, h, xp: h.interpolate_na("x", method="nearest"),
        "interp_na_coord": lambda t, h, xp: h.interpolate_na("y", use_coordinate="y"),
        "interp_na_limit": lambda t, h, xp: h.interpolate_na("time", limit=1),
        "interp_na_gap": lambda t, h, xp: h.interpolate_na("x", max_gap=2.0),
        "interp_na_one": lambda t, h, xp: h.where(h.x == 2).interpolate_na("x"),
        "interp_na_extra": lambda t, h, xp: h.interpolate_na("x", fill_value="extrapolate"),
        "interp_na_fill": lambda t, h, xp: h.interpolate_na("x", fill_value=3.0),
        "interp_na_f4": lambda t, h, xp: h.astype("f4").interpolate_na("x"),
        "combine_first": lambda t, h, xp: h.combine_first(t),
    },
    "aggregation": {
        "argmax": lambda t, h, xp: h.argmax("time"),
        "argmin": lambda t, h, xp: t.argmin("x"),
        "idxmax": lambda t, h, xp: t.idxmax("x"),
        "idxmin": lambda t, h, xp: h.fillna(0).idxmin("time"),
        "idxmax_nan": lambda t, h, xp: h.idxmax("y"),
        "argmax_dict": lambda t, h, xp: t.argmax(["x", "y"])["x"],
        "quantile": lambda t, h, xp: t.quantile(0.3, "time"),
        "quantile_many": lambda t, h, xp: h.quantile([0.1, 0.5], "time"),
        "rank": lambda t, h, xp: t.rank("time"),
        "rank_pct": lambda t, h, xp: t.rank("x", pct=True),
        "reduce": lambda t, h, xp: t.reduce(xp.mean, "x"),
        "reduce_np": lambda t, h, xp: t.reduce(np.mean, "x"),
        "ddof": lambda t, h, xp: t.std("time", ddof=1),
        "min_count": lambda t, h, xp: h.sum("x", min_count=5),
        "cumulative": lambda t, h, xp: t.cumulative("time").mean(),
    },
    "rolling windows": {
        "rolling_center": lambda t, h, xp: t.rolling(time=4, center=True).mean(),
        "rolling_min_periods": lambda t, h, xp: h.rolling(x=3, min_periods=1).mean(),
        "rolling_two": lambda t, h, xp: t.rolling(x=2, y=2).mean(),
        "rolling_construct": lambda t, h, xp: t.rolling(time=3).construct("w").mean("w"),
        "rolling_construct_stride": lambda t, h, xp: t.rolling(x=3).construct("w", stride=2),
        "rolling_reduce": lambda t, h, xp: t.rolling(time=3).reduce(xp.sum),
        "rolling_nan": lambda t, h, xp: h.rolling(time=3).sum(),
        "rolling_cumulative": lambda t, h, xp: t.rolling(time=3, min_periods=1).max(),
        "rolling_iter": lambda t, h, xp: [w.mean() for _, w in t.rolling(time=3)][5],
    },
    "weighted": {
        "weighted_host": lambda t, h, xp: t.weighted(np.cos(np.deg2rad(t.y))).mean(("x", "y")),
    },
    "coarsen": {
        "coarsen_trim": lambda t, h, xp: t.coarsen(time=5, boundary="trim").mean(),
        "coarsen_pad": lambda t, h, xp: t.coarsen(time=5, boundary="pad").mean(),
        "coarsen_construct": lambda t, h, xp: t.coarsen(time=12).construct(time=("year", "month")),
        "coarsen_coordfunc": lambda t, h, xp: t.coarsen(x=3, coord_func={"x": "min"}).mean(),
        "coarsen_reduce": lambda t, h, xp: t.coarsen(x=3).reduce(xp.mean),
    },
    "coordinates": {
        "differentiate": lambda t, h, xp: t.differentiate("x"),
        "differentiate_time": lambda t, h, xp: t.differentiate("time", datetime_unit="D"),
        "integrate": lambda t, h, xp: t.integrate("x"),
        "integrate_time": lambda t, h, xp: t.integrate("time", datetime_unit="D"),
        "cumulative_integrate": lambda t, h, xp: t.cumulative_integrate("x"),
        "diff": lambda t, h, xp: t.diff("time"),
        "diff2": lambda t, h, xp: t.diff("x", n=2, label="lower"),
        "shift": lambda t, h, xp: t.shift(time=2),
        "shift_fill": lambda t, h, xp: t.shift(x=-1, fill_value=0),
        "roll": lambda t, h, xp: t.roll(x=2),
        "pad": lambda t, h, xp: t.pad(x=(1, 2)),
        "pad_edge": lambda t, h, xp: t.pad(x=1, mode="edge"),
        "pad_wrap": lambda t, h, xp: t.pad(y=2, mode="wrap"),
        "pad_reflect": lambda t, h, xp: t.pad(y=2, mode="reflect"),
        "pad_constant": lambda t, h, xp: t.pad(y=2, constant_values=3.0),
    },
    "polynomials and curves": {
        "polyfit": lambda t, h, xp: t.polyfit("x", 2).polyfit_coefficients,
        "polyfit_nan": lambda t, h, xp: h.polyfit("time", 1, skipna=True).polyfit_coefficients,
        "polyfit_full": lambda t, h, xp: t.polyfit("x", 1, full=True).polyfit_residuals,
        "polyfit_cov": lambda t, h, xp: t.isel(y=0).polyfit("x", 1, cov=True).polyfit_covariance,
        "polyfit_w": lambda t, h, xp: t.polyfit("x", 1, w=np.arange(1, 7.0)).polyfit_coefficients,
        "polyval": lambda t, h, xp: xr.polyval(t.x, t.isel(time=slice(0, 3)).rename(time="degree").assign_coords(degree=[0, 1, 2])),
        "polyval_on": lambda t, h, xp: xr.polyval(t, xr.DataArray([1.0, 2.0, 3.0], dims="degree", coords={"degree": [0, 1, 2]})),
        "curvefit": lambda t, h, xp: t.isel(y=0, x=0).curvefit("time", lambda x, a, b: a * x + b).curvefit_coefficients,
    },
    "broadcasting": {
        "broadcasting": lambda t, h, xp: t.isel(time=0, drop=True) * t.isel(x=0, drop=True),
        "broadcast": lambda t, h, xp: xr.broadcast(t.isel(time=0), t.isel(x=0))[0],
        "broadcast_like": lambda t, h, xp: t.isel(x=0, drop=True).broadcast_like(t),
        "host_operand": lambda t, h, xp: t * xr.DataArray(np.arange(6.0), dims="x"),
        "coord_operand": lambda t, h, xp: t * t.x,
        "anomaly": lambda t, h, xp: t - t.mean("time"),
    },
    "alignment": {
        "alignment": lambda t, h, xp: t[:, :, 1:] + t[:, :, :-1],
        "align_outer": lambda t, h, xp: xr.align(t[:, :, 1:], t[:, :, :-1], join="outer")[0],
        "align_fill": lambda t, h, xp: xr.align(t[:, :, 1:], t[:, :, :-1], join="outer", fill_value=0)[0],
        "reindex": lambda t, h, xp: t.reindex(x=[5, 0, 9]),
        "reindex_nearest": lambda t, h, xp: t.reindex(x=[0.4, 3.6], method="nearest"),
        "reindex_like": lambda t, h, xp: t.reindex_like(t[:, ::2]),
    },
    "datasets": {
        "dataset_math": lambda t, h, xp: (xr.Dataset({"a": t, "b": h}) * 2 - t).b,
        "dataset_mean": lambda t, h, xp: xr.Dataset({"a": t, "b": h}).mean("x").b,
        "dataset_map": lambda t, h, xp: xr.Dataset({"a": t, "b": h}).map(np.fabs).a,
        "to_dataarray": lambda t, h, xp: xr.Dataset({"a": t, "b": h}).to_dataarray(),
    },
    "functions of arrays": {
        "apply_ufunc": lambda t, h, xp: xr.apply_ufunc(lambda a, b: (a - b) ** 2, t, h),
        "apply_ufunc_core": lambda t, h, xp: xr.apply_ufunc(lambda a: xp.linalg.norm(a, axis=-1), t, input_core_dims=[["x"]]),
        "apply_ufunc_out": lambda t, h, xp: xr.apply_ufunc(
            lambda a: xp.stack([a.min(axis=-1), a.max(axis=-1)], axis=-1), t, input_core_dims=[["x"]], output_core_dims=[["which"]]
        ),
        "apply_ufunc_vectorize": lambda t, h, xp: xr.apply_ufunc(
            lambda a: float(a.sum()), t.isel(time=0), input_core_dims=[["x"]], vectorize=True
        ),
        "corr": lambda t, h, xp: xr.corr(t, h, "time"),
        "cov": lambda t, h, xp: xr.cov(t, t * 2, "x"),
        "cross": lambda t, h, xp: xr.cross(t.isel(x=slice(3)), t.isel(x=slice(3, 6)).assign_coords(x=[0.0, 1, 2]), dim="x"),
    },
    "groupby": {
        "groupby_anomaly": lambda t, h, xp: t.groupby("time.month") - t.groupby("time.month").mean(),
        "groupby_map": lambda t, h, xp: t.groupby("time.season").map(lambda g: g - g.mean()),
        "groupby_bins": lambda t, h, xp: t.groupby_bins("x", [0, 2, 5]).mean(),
        "groupby_2d": lambda t, h, xp: t.groupby_bins("lat", [0, 10, 30]).mean(),
        "groupby_reduce": lambda t, h, xp: t.groupby("time.month").reduce(xp.mean, dim="time"),
        "groupby_fillna": lambda t, h, xp: h.groupby("time.month").fillna(t.groupby("time.month").mean()),
        "groupby_cumsum": lambda t, h, xp: t.groupby("time.year").cumsum(),
    },
    "resample": {
        "resample": lambda t, h, xp: t.resample(time="QS").mean(),
        "resample_sum": lambda t, h, xp: h.resample(time="YS").sum(),
        "resample_ffill": lambda t, h, xp: t.resample(time="SMS").ffill(),
        "resample_nearest": lambda t, h, xp: t.resample(time="SMS").nearest(),
        "resample_interp": lambda t, h, xp: t.resample(time="SMS").interpolate("linear"),
        "resample_asfreq": lambda t, h, xp: t.resample(time="SMS").asfreq(),
        "resample_pad": lambda t, h, xp: t.resample(time="SMS").pad(),
        "resample_median": lambda t, h, xp: t.resample(time="QS").median(),
        "resample_map": lambda t, h, xp: t.resample(time="QS").map(lambda g: g.max("time")),
    },
    "interpolation": {
        "interp": lambda t, h, xp: t.interp(x=[0.5, 2.25]),
        "interp_two": lambda t, h, xp: t.interp(x=[0.5, 2.25], y=[5.0, 15.0]),
        "interp_nearest": lambda t, h, xp: t.interp(x=[0.4], method="nearest"),
        "interp_cubic": lambda t, h, xp: t.interp(x=[0.4, 1.2], method="cubic"),
        "interp_time": lambda t, h, xp: t.interp(time=["2000-06-15"]),
        "interp_advanced": lambda t, h, xp: t.interp(x=xr.DataArray([0.5, 1.5], dims="p"), y=xr.DataArray([5.0, 15.0], dims="p")),
        "interp_like": lambda t, h, xp: t.interp_like(t.isel(x=slice(0, 3)).assign_coords(x=[0.1, 0.2, 0.3])),
        "interp_extrapolate": lambda t, h, xp: t.interp(x=[7.0], kwargs={"fill_value": "extrapolate"}),
        "interp_f4": lambda t, h, xp: t.astype("f4").interp(x=[0.5, 1.7]),
        "interp_two_f4": lambda t, h, xp: t.astype("f4").interp(x=[0.5, 1.7], y=[3.0, 9.0]),
        "interp_nearest_f4": lambda t, h, xp: t.astype("f4").interp(x=[0.5, 1.5, 1.7], method="nearest"),
        "interp_int": lambda t, h, xp: (t * 10).astype("i4").interp(x=[0.5, 1.5, 1.7]),
        "interp_adv2": lambda t, h, xp: t.interp(
            x=xr.DataArray([[0.5, 1.5], [8.0, np.nan]], dims=("q", "p")), y=xr.DataArray([5.0, 15.0], dims="p")
        ),
        "interp_adv_nearest": lambda t, h, xp: t.interp(
            x=xr.DataArray([0.5, 1.5], dims="p"), y=xr.DataArray([5.0, 16.0], dims="p"), method="nearest"
        ),
        "interp_fill": lambda t, h, xp: t.interp(x=[7.0, 1.0], kwargs={"fill_value": -1.0}),
        "interp_scalar": lambda t, h, xp: t.interp(x=1.5),
        "interp_nan": lambda t, h, xp: h.interp(x=[1.0, 1.5]),
        "interp_desc": lambda t, h, xp: t[:, :, ::-1].interp(x=[1.0, 1.5]),
        "interp_none": lambda t, h, xp: t.interp(
            x=xr.DataArray([0.5, 9], dims="p"), y=xr.DataArray([5.0, 15.0], dims="p"), kwargs={"fill_value": None}
        ),
    },
    "more rows": {
        "ffill_first": lambda t, h, xp: h.where(h.time > h.time[2]).ffill("time", limit=2),
        "rank_ties": lambda t, h, xp: h.round(0).rank("time", pct=True),
        "rank_int": lambda t, h, xp: t.round(0).astype("i4").rank("x"),
        "polyfit_allnan": lambda t, h, xp: h.where(h.x > 0).polyfit("time", 2).polyfit_coefficients,
        "sort_two": lambda t, h, xp: t.sortby([t.isel(time=0, y=0, drop=True), "time"]),
    },
    "indexing": {
        "isel": lambda t, h, xp: t.isel(x=[0, 2], y=1),
        "isel_slice": lambda t, h, xp: t.isel(time=slice(None, None, -2)),
        "isel_vectorized": lambda t, h, xp: t.isel(x=xr.DataArray([0, 1, 2], dims="p"), y=xr.DataArray([2, 1, 0], dims="p")),
        "isel_vec2": lambda t, h, xp: t.isel(time=xr.DataArray([[0, 1], [2, 3]], dims=("a", "b"))),
        "isel_device": lambda t, h, xp: t.isel(
            x=xr.DataArray(np.array([0, 2]) if xp is np else pp.asarray([0, 2], device=t.data.device), dims="p")
        ),
        "sel": lambda t, h, xp: t.sel(x=2.0, y=[0.0, 20.0]),
        "sel_nearest": lambda t, h, xp: t.sel(x=[1.2, 3.9], method="nearest"),
        "sel_time": lambda t, h, xp: t.sel(time="2000"),
        "sel_slice": lambda t, h, xp: t.sel(time=slice("2000-03", "2000-09")),
        "sel_vec": lambda t, h, xp: t.sel(x=t.x.isel(x=[1, 2]).rename(x="p"), y=xr.DataArray([0.0, 10.0], dims="p")),
        "loc": lambda t, h, xp: t.loc[{"x": 3.0}],
        "bracket": lambda t, h, xp: t[3:5, [0, 1], 2],
        "boolean": lambda t, h, xp: t[t.time.dt.month.values == 3],
        "boolean_da": lambda t, h, xp: t.isel(x=t.x > 2),
        "drop_sel": lambda t, h, xp: t.drop_sel(x=[0.0]),
        "head": lambda t, h, xp: t.head(time=3),
        "thin": lambda t, h, xp: t.thin(2),
        "where": lambda t, h, xp: t.where(t > 0),
        "where_other": lambda t, h, xp: t.where(t > 0, -9),
        "where_drop": lambda t, h, xp: t.where(t.x > 2, drop=True),
        "where_drop_data": lambda t, h, xp: t.where(t > 1, drop=True),
        "mask_coord": lambda t, h, xp: t.where(t.lat < 15),
        "sortby": lambda t, h, xp: t.sortby("x", ascending=False),
        "sortby_data": lambda t, h, xp: t.sortby(t.isel(time=0, y=0, drop=True)),
        "stack": lambda t, h, xp: t.stack(z=("x", "y")),
        "unstack": lambda t, h, xp: t.stack(z=("x", "y")).unstack(),
        "expand": lambda t, h, xp: t.expand_dims(e=3),
        "squeeze": lambda t, h, xp: t.isel(x=[0]).squeeze(),
        "concat": lambda t, h, xp: xr.concat([t, h], "new"),
        "merge": lambda t, h, xp: xr.merge([t.rename("a"), h.rename("b")], compat="override").b,
        "combine": lambda t, h, xp: xr.combine_by_coords([t.isel(x=slice(0, 3)).to_dataset(), t.isel(x=slice(3, 6)).to_dataset()]).t,
        "map_blocks": lambda t, h, xp: t.map_blocks(lambda b: b + 1),
        "dt": lambda t, h, xp: t.where(t.time.dt.season == "DJF"),
    },
    "others": {
        "copy": lambda t, h, xp: t.copy(deep=True),
        "pickle": lambda t, h, xp: pickle.loads(pickle.dumps(t)),
        "zeros_like": lambda t, h, xp: xr.zeros_like(t),
        "full_like": lambda t, h, xp: xr.full_like(t, 3.0),
        "ones_like": lambda t, h, xp: xr.ones_like(t),
    },
}


def named(section: str, form: str, names: str, make: Callable[[str], Callable[..., Any]]) -> None:
    """Cases that differ in the name of a method."""
    GUIDE[section] |= {form.format(name): make(name) for name in names.split()}


def method(name: str, make: Callable[..., Any], *arguments: Any, **keywords: Any) -> Callable[..., Any]:
    return lambda t, h, xp: getattr(make(t, h, xp), name)(*arguments, **keywords)


def _weighted(t: Any, h: Any, xp: Any) -> Any:
    weights = np.arange(1.0, 6.0, dtype=t.dtype)
    return h.weighted(xr.DataArray(weights if xp is np else pp.asarray(weights, device=h.data.device), dims="y"))


REDUCTIONS = "sum mean std var min max prod median count all any cumsum cumprod"
named("aggregation", "{}", REDUCTIONS, lambda name: method(name, lambda t, h, xp: h, "time"))
named(
    "aggregation",
    "{}_without_skipping",
    "sum mean std min max prod median",
    lambda name: method(name, lambda t, h, xp: h, "time", skipna=False),
)
named("aggregation", "{}_of_two", "sum mean std max median", lambda name: method(name, lambda t, h, xp: h, ["x", "y"]))
named("aggregation", "{}_of_all", "sum mean var min count", lambda name: method(name, lambda t, h, xp: h))
named(
    "rolling windows", "rolling_{}", "mean sum max min std var count median prod argmax",
    lambda name: method(name, lambda t, h, xp: h.fillna(0).rolling(time=3)),
)  # fmt: skip
named("weighted", "weighted_{}", "mean sum std var sum_of_weights sum_of_squares", lambda name: method(name, _weighted, "y"))
named("weighted", "weighted_{}", "quantile", lambda name: method(name, lambda t, h, xp: _weighted(t, t, xp), 0.5, dim="y"))
named("coarsen", "coarsen_{}", "mean sum max min std median count", lambda name: method(name, lambda t, h, xp: h.coarsen(time=4, x=3)))
named(
    "groupby", "groupby_{}", "mean sum max std median count first last", lambda name: method(name, lambda t, h, xp: h.groupby("time.month"))
)
named("groupby", "groupby_{}", "quantile", lambda name: method(name, lambda t, h, xp: h.groupby("time.month"), 0.5))


def changed(change: Callable[[Any], None]) -> Callable[..., Any]:
    """An assignment to a copy."""

    def case(t: Any, h: Any, xp: Any) -> Any:
        made = t.copy(deep=True)
        change(made)
        return made

    return case


def points(**places: list[int]) -> dict[str, Any]:
    return {name: xr.DataArray(values, dims="p") for name, values in places.items()}


GUIDE["assignment"] = {
    "set_element": changed(lambda t: t.__setitem__({"x": 0, "y": 1}, 3)),
    "set_places": changed(lambda t: t.__setitem__({"x": [0, 2]}, 1.5)),
    "set_labels": changed(lambda t: t.loc.__setitem__({"x": slice(1, 2)}, -1)),
    "set_outer": changed(lambda t: t.__setitem__({"x": [0, 2], "y": [1, 3, 4]}, 1.5)),
    "set_outer_by_array": changed(lambda t: t.__setitem__({"x": [0, 2], "y": [1, 3, 4]}, t[{"x": [1, 3], "y": [0, 1, 2]}].data * 2)),
    "set_points": changed(lambda t: t.__setitem__(points(x=[0, 1], y=[0, 1]), 7)),
    "set_points_by_array": changed(
        lambda t: t.variable.__setitem__(points(x=[0, 1], time=[0, 1]), t.variable[points(x=[3, 4], time=[5, 6])])
    ),
    "set_mask": changed(lambda t: t.__setitem__({"time": t.time.dt.month.values == 1}, 0)),
}
# What SciPy and NumPy compute, row by row: on the CPU in place, elsewhere an error that names the way; and times, which no device has.
ON_HOST = {"curvefit", "interp_cubic", "interp_na_extra", "apply_ufunc_vectorize", "weighted_quantile"}
TIMES = {"idxmin"}
