// src/graph/by_queue.h: work on values of several queues, queue by queue.
#pragma once

#include <algorithm>
#include <mutex>
#include <span>

#include "graph/node.h"

namespace pardo::graph {

/// Calls `each` with the items of one queue after those of another, under that queue's graph lock. Items are moved, and those of a queue
/// keep their order. `node_of` gives an item's node, whose queue counts.
template <class Item, class NodeOf, class Each> void for_each_queue(std::span<Item> items, NodeOf node_of, Each each) {
    while (!items.empty()) {
        device::Queue* const queue = node_of(items.front())->queue.get();
        const auto end =
            std::stable_partition(items.begin(), items.end(), [&](const Item& item) { return node_of(item)->queue.get() == queue; });
        const std::span<Item> own(items.begin(), end);
        {
            std::lock_guard guard(state_of(queue).lock);
            each(own);
        }
        items = {end, items.end()};
    }
}

}  // namespace pardo::graph
