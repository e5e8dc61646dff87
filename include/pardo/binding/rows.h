// include/pardo/binding/rows.h: operations by the number of their row in src/graph/ops.def, and those tables.
// For pardo's own bindings: no stability.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include <pardo/ops.h>

namespace pardo {

/// One row of ops.def, for bindings, documentation and tests.
struct OpInfo {
    const char* name;  // "hypot"
    int arity;
    const char* numpy;     // "hypot"; "" when NumPy has none
    const char* dtypes;    // "FLOAT"
    const char* result;    // "PROMOTED"
    const char* identity;  // "ZERO"
    const char* doc;
};
/// The rows that are public functions, in order; the position is the operation's id.
PARDO_API std::span<const OpInfo> op_table();
/// Records row `id`. `dtype` as NumPy's keyword: the loop's dtype, inputs are cast to it (same_kind).
PARDO_API Array apply(int id, std::span<const Operand> operands, std::optional<DType> dtype = {});
/// Row `id` into `out` (runs at once), only where `where` is true if given. NumPy's rules: broadcast to out, same_kind cast.
PARDO_API void apply_out(int id, std::span<const Operand> operands, const Array& out, const Array* where = nullptr,
                         std::optional<DType> dtype = {});
/// `x op= y`: as apply_out into x; may instead rebind a handle that shares memory with no other, so that it stays lazy.
PARDO_API void apply_inplace(int id, Array& x, const Operand& y);

/// What row `id` computes in for operands of these dtypes, and what it gives; `dtype` as for apply.
struct LoopTypes {
    DType loop, result;
};
PARDO_API LoopTypes loop_of(int id, std::span<const DType> operands, std::optional<DType> dtype = {});

/// One row of reductions.def, for bindings, documentation and tests.
struct ReductionInfo {
    const char* kind;  // "REDUCTION", "POSITION" or "SCAN"
    const char* name;  // "sum"
    int id;            // of reductions and scans: the Reduction
    const char* keywords;
    bool method;
    const char* fold;  // "sum"; "argmin"
    const char* doc;
    const char* gives;
};
PARDO_API std::span<const ReductionInfo> reduction_table();

// Elements of x taken together by row `id`, a function of two, one after the other; x is of a dtype that the row computes in and gives.
// Where the row has an identity (or ANY_ORDER), in blocks that are taken together then.
/// The axis stays, with extent 1. `initial` (without dimensions) comes first; elements where `where` (of x's shape) is false take no part.
PARDO_API Array fold(int id, const Array& x, std::int64_t axis, const Array* initial = nullptr, const Array* where = nullptr);
/// All that is on the way.
PARDO_API Array fold_steps(int id, const Array& x, std::int64_t axis);
/// Of x from starts[s] to before stops[s], and of x[starts[s]] in any case; both Int64, within the axis.
PARDO_API Array fold_segments(int id, const Array& x, std::int64_t axis, const Array& starts, const Array& stops);
/// What ufunc.at writes: row `id`, applied at each index in order. `old`: the elements that are there (equal for equal indices); `values`:
/// the second operands in the dtype that is computed in, null for functions of one; keys[0]: the indices, sorted; keys[1]: where each was.
PARDO_API Array fold_places(int id, const Array& old, const Array* values, const Array& keys, DType loop);
/// Whether accumulate_at takes the target: row-major, on a device that has code for the row and the dtype.
PARDO_API bool accumulates_at(int id, const Array& target);
/// Writes target[places[k]] = row(target[places[k]], values[k]) for each k; places index the target as if it had one dimension, values are
/// as many or one. Asynchronous: unless `inside`, places out of bounds are found later, and nothing is written then. Of many places that
/// name few elements, parts are taken together on their own: floats differ by rounding from one step after the other, but not from run to
/// run.
PARDO_API void accumulate_at(int id, const Array& target, const Array& places, const Array& values, bool inside = false);

}  // namespace pardo
