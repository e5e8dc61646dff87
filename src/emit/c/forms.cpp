// src/emit/c/forms.cpp: the kinds of devices that texts are made for when they leave the process.
#include "emit/c/forms.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace pardo::emit {
namespace {

CFeatures processor(bool vector_loops, bool split_pointers) {
    CFeatures f;
    f.cpu = true;
    f.vector_loops = vector_loops;
    f.split_pointers = split_pointers;
    f.max_group_size = 4096;
    f.half = CHalf::Integers;
    // Of PoCL, then of Intel's runtime.
    f.hidden_masks = vector_loops;
    f.conditional_barriers = !vector_loops;
    f.split_longs = f.scalar_counts = f.scalar_pairs = f.own_starts = !vector_loops;
    return f;
}

CFeatures groups(int sub_group, bool native_erf, bool split_pointers, bool intel_shuffles = false) {
    CFeatures f;
    f.sub_group = sub_group;
    f.shuffles = sub_group > 1 ? sub_group : 0;
    f.intel_shuffles = intel_shuffles;
    f.native_erf = native_erf;
    f.split_pointers = split_pointers;
    f.max_group_size = 1024;
    f.compute_units = 64;
    f.masked_abs = true;
    return f;
}

/// Of a team's loop that is long enough.
int most_unrolled(const CTraits& traits) { return traits.widest_read >= 16 ? 2 : traits.widest_read == 8 ? 4 : 8; }

int log_of(int n) { return std::countr_zero(static_cast<unsigned>(std::max(n, 1))); }

}  // namespace

const std::vector<CForm>& opencl_forms(bool processors) {
    static const auto& of_processors = *new std::vector<CForm>{{"loops", processor(true, false)},
                                                               {"items", processor(false, false)},
                                                               {"loops, buffers", processor(true, true)},
                                                               {"items, buffers", processor(false, true)}};
    static const auto& of_groups = *new std::vector<CForm>{{"groups", groups(1, false, false)},
                                                           {"groups, own erf", groups(1, true, false)},
                                                           {"groups, sub-groups of 16", groups(16, false, false)},
                                                           {"groups, Intel's sub-groups of 16", groups(16, false, false, true)},
                                                           {"groups, buffers", groups(1, false, true)}};
    return processors ? of_processors : of_groups;
}

int distance(const CForm& form, const CFeatures& device) {
    const CFeatures& f = form.features;
    if (f.target != device.target || f.cpu != device.cpu || f.split_pointers != device.split_pointers) return -1;
    if (f.sub_group > 1 && (f.sub_group != device.sub_group || f.intel_shuffles != device.intel_shuffles)) return -1;
    int faults = 0;
    for (const auto fault : {&CFeatures::hidden_masks, &CFeatures::split_longs, &CFeatures::scalar_counts, &CFeatures::scalar_pairs,
                             &CFeatures::own_starts, &CFeatures::masked_abs})
        faults += device.*fault && !(f.*fault);
    return 8 * (f.sub_group != device.sub_group) + 4 * (f.native_erf != device.native_erf) + 16 * (f.vector_loops != device.vector_loops) +
           32 * faults;
}

CGeometry coarse(const CGeometry& geometry, const CTraits& traits, const CFeatures& features) {
    CGeometry g = geometry;
    const auto up = [](int n, std::initializer_list<int> sizes) {
        for (const int size : sizes)
            if (n <= size) return size;
        return n;
    };
    // Intel's compiler for processors gives sums of groups of 8 items other last bits than those of 16: what it makes vectors of stays.
    const bool by_loops = features.cpu && features.vector_loops;
    switch (g.mapping) {
        case CMapping::Items: break;
        case CMapping::Team:
            if (by_loops) g.group_size = up(g.group_size, {1, 4, 16});
            if (g.steps == 0) break;
            // Steps beyond the last element do nothing, and running values without elements change no sum: those of four are folded as two.
            g.steps = up(g.steps, {4, 16});
            g.whole = false;
            g.unroll = most_unrolled(traits);
            break;
        case CMapping::Range: break;
        case CMapping::Loop: g.rows = g.rows < 8 ? 1 : 8; break;
        default:
            if (by_loops) g.group_size = up(g.group_size, {1, 16, 256, 4096});
            g.columns = g.columns < 4 ? 1 : 4;
            g.rows = g.rows < 4 ? 1 : 4;
            if (!features.cpu && g.group_size < 256) g.columns = g.rows = 1;
    }
    return g;
}

int best_of(std::span<const device::ShapeClass> made, const CGeometry& wanted, const CFeatures& features) {
    const auto away = [](int a, int b) { return std::abs(log_of(a) - log_of(b)); };
    const bool sums = wanted.mapping == CMapping::Team, groups = wanted.mapping == CMapping::Items;
    int best = -1, least = 0;
    for (std::size_t i = 0; i < made.size(); ++i) {
        const CGeometry g = CGeometry::decode(made[i]);
        if (wanted.wide && !g.wide) continue;
        if ((g.mapping == CMapping::Team) != sums || (g.mapping == CMapping::Items) != groups) continue;
        if (!groups && g.group_size > features.max_group_size) continue;
        if (g.whole && !(wanted.whole && g.steps == wanted.steps)) continue;
        // Not more iterations than these, of an item of this team.
        if (g.steps > 0 && (wanted.steps == 0 || g.steps * g.team < wanted.steps * wanted.team)) continue;
        const bool same_sums = g.team == wanted.team && g.unroll == wanted.unroll && (g.steps > 0) == (wanted.steps > 0);
        int cost = away(g.group_size, wanted.group_size) + away(g.columns, wanted.columns) + away(g.rows, wanted.rows) + g.wide;
        cost += std::abs(g.steps - wanted.steps);
        cost += 32 * (g.mapping != wanted.mapping);
        if (sums && !same_sums) cost += 256 + 16 * away(g.team, wanted.team) + away(g.unroll, wanted.unroll);
        if (best < 0 || cost < least) best = static_cast<int>(i), least = cost;
    }
    return best;
}

bool sound(device::ShapeClass code, int rank) {
    const CGeometry g = CGeometry::decode(code);
    if (g.encode() != code || g.mapping > CMapping::Tile) return false;
    if (g.mapping == CMapping::Items) return g.group_size > 0;
    if (g.mapping == CMapping::Team) return g.team <= g.group_size;
    if (g.mapping == CMapping::Tile) return rank > 1 && g.group_size >= tile_width;
    return true;
}

}  // namespace pardo::emit
