// src/graph/axis_order.h: the order of axes in memory that NumPy gives a result whose operands lie in memory in several ways (order='K').
#pragma once

#include <utility>

#include "base/small_vector.h"

namespace pardo::graph {

/// Axes, the outermost in memory first. `step(k, d)`: how far operand k goes in memory along axis d, not negative; 0: it has no say. As
/// NumPy's iterator does it: an insertion sort, in which an operand that wants row-major order wins over others.
template <class Step> SmallVector<int, 8> axes_outermost_first(int rank, int operands, Step&& step) {
    SmallVector<int, 8> sorted(rank, 0);  // innermost first
    for (int i = 0; i < rank; ++i) sorted[i] = rank - 1 - i;
    for (int i = 1; i < rank; ++i) {
        const int axis = sorted[i];
        int place = i;
        for (int j = i - 1; j >= 0; --j) {
            bool undecided = true, goes_inside = false;
            for (int k = 0; k < operands; ++k) {
                const auto own = step(k, axis), other = step(k, sorted[j]);
                if (own == 0 || other == 0) continue;
                if (other <= own) {
                    goes_inside = false;
                } else if (undecided) {
                    goes_inside = true;
                }
                undecided = false;
            }
            if (undecided) continue;
            if (!goes_inside) break;
            place = j;
        }
        for (int j = i; j > place; --j) sorted[j] = sorted[j - 1];
        sorted[place] = axis;
    }
    for (int i = 0; i < rank / 2; ++i) std::swap(sorted[i], sorted[rank - 1 - i]);
    return sorted;
}

}  // namespace pardo::graph
