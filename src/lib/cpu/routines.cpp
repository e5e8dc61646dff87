// src/lib/cpu/routines.cpp: the CPU's table.
#include "lib/cpu/routines.h"

namespace pardo::lib {

const Routines& cpu_routines() {
    static constexpr Routines table = {
        .cumulative = cpu_cumulative,
        .sort = cpu_sort,
        .partition = cpu_partition,
        .top_k = cpu_top_k,
        .searchsorted = cpu_searchsorted,
        .count_mask = cpu_count_mask,
        .nonzero = cpu_nonzero,
        .compress = cpu_compress,
        .put_mask = cpu_put_mask,
        .gather = cpu_gather,
        .scatter = cpu_scatter,
        .take_along_axis = cpu_take_along_axis,
        .count_runs = cpu_count_runs,
        .fill_runs = cpu_fill_runs,
        .matmul = cpu_matmul,
        .matmul_strides_ok = cpu_matmul_strides_ok,
    };
    return table;
}

}  // namespace pardo::lib
