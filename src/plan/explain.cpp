// src/plan/explain.cpp: the plan for some roots as text.
#include <algorithm>
#include <cstdio>

#include "graph/call.h"
#include "graph/record.h"
#include "plan/force.h"
#include "plan/group/companions.h"
#include "plan/schedule/schedule.h"

namespace pardo::plan {

using graph::Kind;
using graph::Node;

namespace {

std::string bytes_text(std::int64_t bytes) {
    constexpr const char* units[] = {"B", "kB", "MB", "GB", "TB"};
    double value = static_cast<double>(bytes);
    int unit = 0;
    for (; value >= 1000 && unit < 4; ++unit) value /= 1000;
    char text[32];
    std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
    return text;
}

std::string value_text(const Node* n) {
    std::string text(dtype_name(n->dtype));
    text += ' ';
    text += to_string(n->shape);
    return text;
}

/// What a member of a group is called: the operation that ends it.
std::string member_name(const Planner& planner, NodeId id) {
    if (planner.is_store(id)) return "store";
    const Node* n = planner.node(id);
    switch (n->kind) {
        case Kind::Elementwise: return graph::name(n->op);
        case Kind::Reduce: return reduce_name(n->reduce);
        case Kind::Constant: return "constant";
        case Kind::Iota: return "index";
        case Kind::View: return "view";
        case Kind::Call: return n->call->name;
        case Kind::Leaf:
        case Kind::Failed: break;
    }
    return "array";
}

class Text {
public:
    Text(Planner& planner, Scheduler& scheduler) : planner_(planner), scheduler_(scheduler) {}

    std::string make() {
        std::int64_t read = 0, written = 0;
        for (const KernelPlan& k : scheduler_.kernels()) {
            read += bytes_of(k).read;
            written += bytes_of(k).written;
        }
        const std::size_t kernels = scheduler_.kernels().size(), groups = planner_.groups().size();
        out_ = count(groups, "group") + ", " + count(kernels, "kernel") + "; reads " + bytes_text(read) + ", writes " +
               bytes_text(written) + "\n";
        int number = 0, group = -1;
        for (const KernelPlan& k : scheduler_.kernels()) {
            if (k.group != group) {
                group = k.group;
                begin_group(group, ++number);
            }
            kernel(k);
        }
        aliases();
        return std::move(out_);
    }

private:
    static std::string count(std::size_t n, const char* noun) {
        std::string text = std::to_string(n);
        text += ' ';
        text += noun;
        if (n != 1) text += 's';
        return text;
    }
    struct Bytes {
        std::int64_t read = 0, written = 0;
    };
    Bytes bytes_of(const KernelPlan& k) const {
        Bytes sum;
        for (const KernelPlan::Traffic& traffic : k.traffic) {
            const std::int64_t bytes = bytes_moved(traffic, traffic.bytes.value(), planner_.walk());
            if (traffic.read) sum.read += bytes;
            if (traffic.written) sum.written += bytes;
        }
        return sum;
    }
    void begin_group(int at, int number) {
        const Group& group = planner_.groups()[at];
        out_.append("group ").append(std::to_string(number)).append(": index space ").append(to_string(values_of(group.domain)));
        if (group.reduced != 0) {
            out_ += ", reduced over";
            for (int d = 0; d < group.domain.size(); ++d) {
                if (group.reduced >> d & 1) out_.append(" axis ").append(std::to_string(d)).append(",");
            }
            out_.pop_back();
        }
        out_ += '\n';
        if (group.cut[0]) line("cut", group.cut);
        if (group.split) line("cut", "few results from many elements: blocks first, then their results");
    }
    void line(const char* what, const std::string& text) {
        char head[16];
        std::snprintf(head, sizeof head, "  %-8s", what);
        out_ += head + text + '\n';
    }
    void kernel(const KernelPlan& k) {
        std::string text = k.name + ": " + name(k.strategy);
        for (const KernelPlan::Block& b : k.blocks) text.append(", blocks of ").append(std::to_string(b.length.value()));
        const SmallVector<std::int64_t, 6> extents = values_of(k.extents);
        text += ", range " + to_string({extents.data(), static_cast<std::size_t>(k.range)});
        text += "; reads " + bytes_text(bytes_of(k).read) + ", writes " + bytes_text(bytes_of(k).written);
        line("kernel", text);
        std::vector<NodeId> seen;
        for (const Access& a : k.accesses) {
            if (a.kind != Access::Kind::Memory || a.mode != ir::Access::Read) continue;
            if (std::find(seen.begin(), seen.end(), a.node) != seen.end()) continue;
            seen.push_back(a.node);
            const Node* n = planner_.node(a.node);
            line("in", (n->kind == Kind::Leaf ? "array" : member_name(planner_, a.node)) + std::string(" ") + value_text(n) + ", " +
                           bytes_text(n->size() * itemsize(n->dtype)));
        }
        for (const Store& s : k.stores) {
            const Node* n = planner_.node(s.node);
            std::string why = planner_.fact(s.node).why;
            if (!planner_.fact(s.node).required && !planner_.is_store(s.node)) why = "read by another kernel";
            line("out",
                 member_name(planner_, s.node) + " " + value_text(n) + ", " + bytes_text(n->size() * itemsize(n->dtype)) + ": " + why);
        }
    }
    void aliases() {
        for (NodeId id = 0; id < planner_.walk().nodes.size(); ++id) {
            if (planner_.fact(id).alias) out_ += "view " + value_text(planner_.node(id)) + ": shares the memory of its base\n";
        }
    }

    Planner& planner_;
    Scheduler& scheduler_;
    std::string out_;
};

}  // namespace

namespace {

/// The groups and kernels that compute `roots`, down to memory and to what calls give.
std::string explain_groups(std::span<Node* const> roots) {
    Walk walk;
    walk.stop_at_calls = true;
    walk.collect(roots);
    if (std::ranges::all_of(walk.nodes, [](const Node* n) { return n->in_memory(); })) return {};
    std::vector<Ref<Node>> companions;
    collect_with_companions(walk, roots, companions);
    Planner planner(walk, roots[0]->queue->device()->execution());
    planner.run();
    Scheduler scheduler(planner);
    scheduler.run();
    return Text(planner, scheduler).make();
}

std::string call_text(const graph::Call& call, const Node& node) {
    std::string text = std::string("call ") + call.name + ": ";
    for (int i = 0; i < node.arity; ++i) text += (i ? ", " : "") + value_text(node.inputs[i].get());
    text += " -> ";
    bool first = true;
    for (const Node* result : call.results) {
        if (!result) continue;
        text += (first ? "" : ", ") + value_text(result);
        first = false;
    }
    return text + "\n";
}

}  // namespace

std::string explain(std::span<Node* const> roots) {
    Walk walk;
    walk.collect(roots);
    std::string text;
    std::vector<const graph::Call*> told;
    for (const Node* node : walk.nodes) {
        if (node->kind != Kind::Call || std::ranges::find(told, node->call.get()) != told.end()) continue;
        told.push_back(node->call.get());
        std::vector<Node*> inputs;
        for (int i = 0; i < node->arity; ++i) {
            if (!node->inputs[i]->in_memory()) inputs.push_back(node->inputs[i].get());
        }
        if (!inputs.empty()) text += explain_groups(inputs);
        text += call_text(*node->call, *node);
    }
    return text + explain_groups(roots);
}

}  // namespace pardo::plan
