// src/plan/explain.cpp: the plan for some roots as text, and as data.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <unordered_map>
#include <unordered_set>

#include <pardo/binding/plan.h>

#include "graph/call.h"
#include "graph/reductions.h"
#include "graph/rows.h"
#include "plan/force.h"
#include "plan/group/sibling_outputs.h"
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
        case Kind::Elementwise: return graph::name(n->op());
        case Kind::Reduce: return graph::fold_name(n->reduce().op);
        case Kind::Constant: return "constant";
        case Kind::Iota: return "index";
        case Kind::View: return "view";
        case Kind::Call: return n->call()->name;
        case Kind::Leaf:
        case Kind::Transfer:
        case Kind::Failed: break;
    }
    return "array";
}

struct Bytes {
    std::int64_t read = 0, written = 0;
};

std::string bytes_text(const Bytes& moved) { return "reads " + bytes_text(moved.read) + ", writes " + bytes_text(moved.written); }

std::string count(std::size_t n, const char* noun) {
    std::string text = std::to_string(n);
    text += ' ';
    text += noun;
    if (n != 1) text += 's';
    return text;
}

std::string line_text(const char* what, const std::string& text) {
    char head[16];
    std::snprintf(head, sizeof head, "  %-8s", what);
    return head + text + '\n';
}

std::string how(const KernelPlan& k) {
    std::string text = name(k.strategy);
    for (const KernelPlan::Block& b : k.blocks) text.append(", blocks of ").append(std::to_string(b.length.value()));
    const SmallVector<std::int64_t, 6> extents = values_of(k.extents);
    return text + ", range " + to_string({extents.data(), static_cast<std::size_t>(k.range)});
}

/// The plan from the first launch to the last. What one part of it has computed, later ones find in memory, although nothing is computed.
class Report {
public:
    explicit Report(std::vector<PlanStep>* steps) : steps_(steps) {}
    /// The groups and kernels that compute `roots`, inputs of a call or what was asked for, down to memory and to what calls give.
    void groups(std::span<Node* const> roots, bool for_call);
    void call(const Node& node);
    std::string text;

private:
    friend class GroupReport;
    PlanValue value(const void* identity, DType dtype, std::span<const std::int64_t> shape, std::string why = {}) {
        const int id = ids_.emplace(identity, static_cast<int>(ids_.size())).first->second;
        return {id, dtype, {shape.begin(), shape.end()}, std::move(why)};
    }
    PlanValue value(const Node* n, std::string why = {}) {
        for (; n->kind == Kind::View; n = n->inputs[0].get()) {
        }  // its memory is that of its base
        return value(n, n->dtype, n->shape, std::move(why));
    }
    /// Those of a value in memory, or that a part has computed.
    Strides strides_of(const Node* n) const {
        if (n->in_memory()) return n->strides;
        if (n->size() == 0) return contiguous_strides(n->shape);
        if (const auto found = strides_.find(n); found != strides_.end()) return found->second;
        Strides strides(n->shape.size(), 0);  // a view shares its base's memory
        std::int64_t offset = 0;
        n->view().place(strides_of(n->inputs[0].get()), strides, offset);
        return strides;
    }

    std::vector<PlanStep>* steps_;
    std::unordered_map<const void*, int> ids_;
    std::unordered_set<const Node*> computed_;          // by earlier parts
    std::unordered_map<const Node*, Strides> strides_;  // of what parts compute, but for views that share memory
    std::unordered_set<const Node*> aliases_;           // that the text tells of
    std::vector<std::unique_ptr<char>> scratch_;        // addresses that name the results of blocks
};

/// One part of the plan: groups that are planned together.
class GroupReport {
public:
    GroupReport(Report& report, Planner& planner, LoopScheduler& scheduler, bool for_call)
        : report_(report), planner_(planner), scheduler_(scheduler), for_call_(for_call) {
        for (std::size_t i = 0; i < scheduler.partials().size(); ++i) partials_.push_back(report.scratch_.emplace_back(new char).get());
    }

    void make() {
        Bytes moved;
        for (const KernelPlan& k : scheduler_.kernels()) {
            moved.read += bytes_of(k).read;
            moved.written += bytes_of(k).written;
        }
        const std::size_t kernels = scheduler_.kernels().size(), groups = planner_.groups().size();
        if (groups > 0) out_ += count(groups, "group") + ", " + count(kernels, "kernel") + "; " + bytes_text(moved) + "\n";
        int number = 0, group = -1;
        for (const KernelPlan& k : scheduler_.kernels()) {
            const bool first = k.group != group;
            group = k.group;
            if (first) begin_group(group, ++number);
            kernel(k);
            if (report_.steps_) step(k, first);
        }
        aliases();
        for (NodeId id = 0; id < planner_.subgraph().nodes.size(); ++id) {
            const Node* n = planner_.node(id);
            const NodeInfo& f = planner_.info(id);
            if (f.required && !f.alias) report_.strides_.emplace(n, Strides(values_of(f.strides)));
            if (n->kind != Kind::View && f.required) report_.computed_.insert(n);
        }
        report_.text += out_;
    }

private:
    Bytes bytes_of(const KernelPlan& k) const {
        Bytes sum;
        for (const KernelPlan::Traffic& traffic : k.traffic) {
            const std::int64_t bytes = bytes_moved(traffic, traffic.bytes.value(), planner_.subgraph());
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
    void line(const char* what, const std::string& text) { out_ += line_text(what, text); }
    void kernel(const KernelPlan& k) {
        line("kernel", k.name + ": " + how(k) + "; " + bytes_text(bytes_of(k)));
        std::string steps;
        for (const ScheduleStep& s : k.steps) steps += (steps.empty() ? "" : ", ") + text_of(s);
        if (!steps.empty()) line("loops", steps);
        for (const NodeId id : inputs(k)) {
            const Node* n = planner_.node(id);
            line("in", (n->kind == Kind::Leaf ? "array" : member_name(planner_, id)) + std::string(" ") + value_text(n) + ", " +
                           bytes_text(n->size() * itemsize(n->dtype)));
        }
        for (const Store& s : k.stores) {
            const Node* n = planner_.node(s.node);
            line("out",
                 member_name(planner_, s.node) + " " + value_text(n) + ", " + bytes_text(n->size() * itemsize(n->dtype)) + ": " + why(s));
        }
    }
    /// What a kernel reads from memory, each once.
    static std::vector<NodeId> inputs(const KernelPlan& k) {
        std::vector<NodeId> found;
        for (const MemoryAccess& a : k.accesses) {
            if (a.kind != MemoryAccess::Kind::Memory || a.mode != ir::Access::Read || std::ranges::find(found, a.node) != found.end())
                continue;
            found.push_back(a.node);
        }
        return found;
    }
    std::string why(const Store& s) const {
        const NodeInfo& f = planner_.info(s.node);
        const Node* n = planner_.node(s.node);
        if (for_call_ && n->use_count() <= n->consumers && (planner_.subgraph().flags[s.node] & Subgraph::Root)) return "read by a call";
        return f.required || planner_.is_store(s.node) ? f.why : "read by another kernel";
    }
    void step(const KernelPlan& k, bool first) {
        const Group& group = planner_.groups()[k.group];
        PlanStep step{.name = k.name, .how = how(k), .bytes_read = bytes_of(k).read, .bytes_written = bytes_of(k).written};
        if (first) step.cut = group.cut;
        std::unordered_set<NodeId> told;
        for (const int at : scheduler_.computed(k)) {
            const FusedValue& fused = group.values[at];
            const char* operation = scheduler_.operation(fused);
            if (operation &&
                (fused.kind == FusedValue::Kind::Cast || fused.kind == FusedValue::Kind::Blend || told.insert(fused.node).second))
                step.operations.emplace_back(operation);
        }
        for (const NodeId id : inputs(k)) step.reads.push_back(report_.value(planner_.node(id)));
        for (const Store& s : k.stores) step.writes.push_back(report_.value(planner_.node(s.node), why(s)));
        for (const MemoryAccess& a : k.accesses) {
            if (a.kind != MemoryAccess::Kind::Partial) continue;
            const Partial& partial = scheduler_.partials()[a.partial];
            const std::int64_t count = partial.count.value();
            PlanValue value = report_.value(partials_[a.partial], partial.dtype, {&count, 1});
            if (a.mode != ir::Access::Read) value.why = "results of blocks";
            (a.mode == ir::Access::Read ? step.reads : step.writes).push_back(std::move(value));
        }
        report_.steps_->push_back(std::move(step));
    }
    void aliases() {
        for (NodeId id = 0; id < planner_.subgraph().nodes.size(); ++id) {
            if (!planner_.info(id).alias || !report_.aliases_.insert(planner_.node(id)).second) continue;
            out_ += "view " + value_text(planner_.node(id)) + ": shares the memory of its base\n";
        }
    }

    Report& report_;
    Planner& planner_;
    LoopScheduler& scheduler_;
    bool for_call_;
    std::vector<const char*> partials_;
    std::string out_;
};

void Report::groups(std::span<Node* const> roots, bool for_call) {
    Subgraph subgraph;
    subgraph.computed = &computed_;
    subgraph.collect(roots);
    if (std::ranges::all_of(subgraph.nodes, [&](const Node* n) { return subgraph.in_memory(n); })) return;
    std::vector<Ref<Node>> siblings;
    collect_with_siblings(subgraph, roots, siblings);
    Planner planner(subgraph, roots[0]->queue->device()->execution());
    planner.run();
    LoopScheduler scheduler(planner);
    scheduler.run();
    GroupReport(*this, planner, scheduler, for_call).make();
}

void Report::call(const Node& node) {
    const graph::Call& call = *node.call();
    PlanStep step{.call = true, .name = call.name, .location = call.location.str()};
    std::vector<graph::CallInput> inputs;
    std::string operands;
    for (int i = 0; i < node.arity; ++i) {
        const Node* input = node.inputs[i].get();
        inputs.push_back({input, strides_of(input)});
        operands += (i ? ", " : "") + value_text(input);
        step.reads.push_back(value(input));
    }
    if (node.size() > 0) {
        graph::ImplementationChoice choice = call.implementation(inputs);
        step.how = choice.name.empty() ? "by no implementation" : "by " + choice.name;
        step.rejected = std::move(choice.rejected);
    }
    text.append("call ").append(call.name).append(step.how.empty() ? "" : " ").append(step.how).append(": ").append(operands);
    text += " -> ";
    for (const Node* result : call.results) {
        if (!result) continue;
        text += (step.writes.empty() ? "" : ", ") + value_text(result);
        step.writes.push_back(value(result, result->use_count() > result->consumers ? "held by the program" : "read by what follows"));
    }
    text += '\n';
    for (const std::string& other : step.rejected) text += line_text("not by", other);
    if (graph::starts_early()) text += line_text("cost", graph::estimate_call(node).text());
    if (steps_) steps_->push_back(std::move(step));
}

}  // namespace

std::string explain(std::span<Node* const> roots, std::vector<PlanStep>* steps) {
    Subgraph subgraph;
    subgraph.collect(roots);
    Report report(steps);
    std::vector<const graph::Call*> told;
    for (const Node* node : subgraph.nodes) {
        if (node->kind != Kind::Call || std::ranges::find(told, node->call().get()) != told.end()) continue;
        told.push_back(node->call().get());
        std::vector<Node*> inputs;
        for (int i = 0; i < node->arity; ++i) {
            if (!node->inputs[i]->in_memory()) inputs.push_back(node->inputs[i].get());
        }
        if (!inputs.empty()) report.groups(inputs, true);
        report.call(*node);
    }
    report.groups(roots, false);
    return report.text;
}

}  // namespace pardo::plan
