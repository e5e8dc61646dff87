// src/lib/device/routines.cpp: the table of devices that compile text.
#include "lib/device/routines.h"

namespace pardo::lib {

const Routines& device_routines() {
    static constexpr Routines table = {
        .cumulative = device_cumulative,
        .sort = device_sort,
        .partition = device_partition,
        .top_k = device_top_k,
        .searchsorted = device_searchsorted,
        .count_mask = device_count_mask,
        .nonzero = device_nonzero,
        .compress = device_compress,
        .put_mask = device_put_mask,
        .gather = device_gather,
        .scatter = device_scatter,
        .take_along_axis = device_take_along_axis,
        .count_runs = device_count_runs,
        .fill_runs = device_fill_runs,
        .matmul = device_matmul,
        .matmul_strides_ok = device_matmul_strides_ok,
    };
    return table;
}

}  // namespace pardo::lib
