// include/pardo/binding/runs.h: sorted runs, cut and merged: what sorts of split arrays are made of.
// For pardo's own bindings: no stability.
#pragma once

#include <optional>
#include <span>
#include <utility>

#include <pardo/array.h>

namespace pardo {

/// Whether host code that works for this queue reads x's memory where it is, whatever queue x is on.
PARDO_API bool reached_in_place(const Array& x, const Queue& queue);

/// How many elements of each run are among the first targets[k] of all, int64, (targets, runs), on `queue`. The runs have one dimension and
/// dtype each, and are in the order of sort, `descending` or not; equal elements come in the order of the runs. Nobody may write to them
/// until the result is there. Nothing where host code of this queue does not reach them in place.
PARDO_API std::optional<Array> cut_runs(std::span<const Array> runs, Extents targets, bool descending, const Queue& queue);

/// Two of such runs as one on `queue`. A number (int64) of each element comes along if all have them, else the second array is an empty
/// handle. Nothing where host code of this queue does not reach them in place.
PARDO_API std::optional<std::pair<Array, Array>> merge_runs(const Array& a, const Array& b, const Array* a_places, const Array* b_places,
                                                            bool descending, const Queue& queue);

}  // namespace pardo
