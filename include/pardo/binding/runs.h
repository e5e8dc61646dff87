// include/pardo/binding/runs.h: sorted runs, merged: what sorts of split arrays are made of.
// For pardo's own bindings: no stability.
#pragma once

#include <optional>
#include <utility>

#include <pardo/array.h>

namespace pardo {

/// Whether host code that works for this queue reads x's memory where it is, whatever queue x is on.
PARDO_API bool reached_in_place(const Array& x, const Queue& queue);

/// Two sorted runs of one dimension and dtype as one on `queue`, in the order of sort; of equal elements those of `a` come first. Nobody may
/// write to the runs until the result is there. A number (int64) of each element comes along if all have them, else the second array is an empty
/// handle. Nothing where host code of this queue does not reach them in place.
PARDO_API std::optional<std::pair<Array, Array>> merge_runs(const Array& a, const Array& b, const Array* a_places, const Array* b_places,
                                                            bool descending, const Queue& queue);

}  // namespace pardo
