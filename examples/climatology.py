# examples/climatology.py: the seasons of a field in a zarr store: means of months, anomalies and a trend, computed on a device by xarray.
"""Writes ten years of a made-up temperature to a zarr store, reads it straight to the device, and finds again what was put in."""

import tempfile
from pathlib import Path

import numpy as np
import pardo as pp
import xarray as xr

YEARS, LATITUDES, LONGITUDES = 10, 18, 36
WARMING = 0.04  # degrees a year


def temperatures():
    """A field on a grid of the globe, in months: seasons that are opposite in the south, a warming, weather."""
    time = np.arange("2000-01", f"{2000 + YEARS}-01", dtype="M8[M]")
    latitude, longitude = np.linspace(-85, 85, LATITUDES), np.linspace(0, 350, LONGITUDES)
    month = np.arange(time.size)[:, None, None]
    season = -12 * np.sin(np.deg2rad(latitude))[:, None] * np.cos(2 * np.pi * month / 12)
    weather = np.random.default_rng(0).normal(scale=0.5, size=(time.size, LATITUDES, LONGITUDES))
    field = 28 * np.cos(np.deg2rad(latitude))[:, None] - 5 + season + WARMING * month / 12 + weather
    field[3, 2:5, 7] = np.nan  # a station did not report
    coords = {"time": time.astype("M8[ns]"), "lat": latitude, "lon": longitude}
    return xr.Dataset({"t2m": (("time", "lat", "lon"), field.astype("f4"))}, coords=coords)


def summary(t2m):
    """Means of the months, what remains without them, and how much the globe warms in a year."""
    months = t2m.groupby("time.month").mean()
    anomalies = t2m.groupby("time.month") - months
    weights = np.cos(np.deg2rad(t2m.lat)).astype("f4")
    globe = anomalies.weighted(weights).mean(("lat", "lon")).coarsen(time=12).mean()
    years = globe.assign_coords(time=np.arange(YEARS, dtype="f4"))
    return months, anomalies, years.polyfit("time", 1).polyfit_coefficients.sel(degree=1)


def main():
    import pardo.zarr

    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder, "temperatures.zarr")
        temperatures().to_zarr(store, encoding={"t2m": {"chunks": (24, LATITUDES, LONGITUDES)}}, consolidated=False)
        with pardo.zarr.enable():  # on the default device
            t2m = xr.open_zarr(store, chunks=None, consolidated=False).t2m.load()
            assert type(t2m.data) is pp.Array
            months, anomalies, warming = summary(t2m)
            xr.Dataset({"months": months, "anomalies": anomalies}).to_zarr(Path(folder, "out.zarr"), consolidated=False)
        written = xr.open_zarr(Path(folder, "out.zarr"), chunks=None, consolidated=False)
        expected = temperatures().t2m.groupby("time.month").mean()
        assert np.allclose(written.months, expected, atol=1e-3)
    for name, month in (("January", 1), ("July", 7)):
        north, south = (float(months.sel(month=month, lat=lat, method="nearest").mean()) for lat in (60, -60))
        print(f"{name:8} 60 N {north:6.1f}   60 S {south:6.1f}")
    found = float(warming.to_numpy())
    assert abs(found - WARMING) < 0.01
    beyond = float(abs(anomalies).quantile(0.9).to_numpy())
    print(f"warming a year {found:.3f}; a tenth of the anomalies is beyond {beyond:.2f}, on {t2m.data.device}")


if __name__ == "__main__":
    main()
