// src/plan/subgraph.cpp: one pass over pending nodes: collects them in order, and writes the signature that finds a finished plan.
#include "plan/subgraph.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cmath>
#include <cstring>

#include "base/scalar_words.h"
#include "graph/overlap.h"
#include "plan/force.h"

namespace pardo::plan {

using graph::Kind;
using graph::Node;

std::uint32_t fresh_mark() {
    static std::atomic<std::uint32_t> last{0};
    std::uint32_t mark;
    do {
        mark = last.fetch_add(1, std::memory_order_relaxed) + 1;
    } while (mark == 0);
    return mark;
}

void Subgraph::clear() {
    nodes.clear();
    uses.clear();
    flags.clear();
    leaves.clear();
    key.clear();
    calls = false;
    stack_.clear();
    target = nullptr;
    target_id = value_id = where_id = no_node;
}

void Subgraph::begin() {
    clear();
    mark_ = fresh_mark();
}

void Subgraph::visit(Node* root) {
    if (root->mark == mark_) return;
    if (root->kind == Kind::Failed) throw Error(*root->error());
    if (root->kind == Kind::Transfer) throw Error(ErrorCode::Internal, "force: a value that has not arrived from another queue");
    const auto enter = [&](Node* node) {
        node->mark = mark_;
        stack_.push_back({node, 0});
    };
    const auto leave = [&](Node* node) {
        assert(node->kind != Kind::Failed && node->kind != Kind::Transfer);
        assert(node->kind != Kind::View || node->inputs[0]->pending());  // docs/design/ordering.md
        node->index = static_cast<std::uint32_t>(nodes.size());
        if (node->kind == Kind::Leaf) leaves.push_back(node->index);
        calls |= node->kind == Kind::Call;
        nodes.push_back(node);
        uses.push_back(0);
        flags.push_back(0);
    };
    const auto inputs_of = [&](const Node* node) { return computed && in_memory(node) ? 0 : node->arity; };
    enter(root);
    while (!stack_.empty()) {
        Frame& frame = stack_.back();
        Node* node = frame.node;
        if (frame.next == inputs_of(node)) {
            stack_.pop_back();
            leave(node);
            for (int i = 0; i < inputs_of(node); ++i) ++uses[node->inputs[i]->index];
            continue;
        }
        Node* input = node->inputs[frame.next++].get();
        if (input->mark == mark_) continue;
        if (input->arity == 0) {
            input->mark = mark_;
            leave(input);
        } else {
            enter(input);
        }
    }
}

void Subgraph::mark_held() {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        Node* node = nodes[i];
        if (node->kind == Kind::Leaf) continue;
        if (node->use_count() > uses[i]) flags[i] |= Held;
    }
}

void Subgraph::collect(std::span<Node* const> roots) {
    begin();
    for (Node* root : roots) visit(root);
    mark_held();
    for (Node* root : roots) {
        if (root->kind != Kind::Leaf) flags[root->index] |= Root;
    }
}

void Subgraph::collect_store(Node* store_target, Node* value, Node* where, After after, int references) {
    begin();
    target = store_target;
    visit(value);
    const bool dropped = after == After::Dropped || (after == After::PerhapsDropped && !reads_target());
    if (where) visit(where);
    visit(store_target);
    target_id = store_target->index;
    value_id = value->index;
    where_id = where ? where->index : no_node;
    if (dropped) uses[value_id] += static_cast<std::uint32_t>(references);
    mark_held();
    mark_overlaps();
}

bool Subgraph::reads_target() const {
    return std::any_of(leaves.begin(), leaves.end(), [&](NodeId leaf) { return graph::may_overlap(*nodes[leaf], *target); });
}

void Subgraph::mark_overlaps() {
    for (const NodeId leaf : leaves) {
        if (graph::same_elements(*nodes[leaf], *target)) {
            flags[leaf] |= Same;
        } else if (graph::may_overlap(*nodes[leaf], *target)) {
            flags[leaf] |= Overlaps;
        }
    }
}

bool Subgraph::read_outside(const device::Buffer* buffer) const {
    for (const Link* use = buffer->readers.next; use != &buffer->readers; use = use->next) {
        if (!contains(static_cast<const graph::Use*>(use)->user)) return true;
    }
    return false;
}

namespace {

/// Appends plain bytes to the signature.
class KeyWriter {
public:
    explicit KeyWriter(std::vector<std::uint8_t>& out) : out_(out) {}
    ~KeyWriter() { out_.resize(used_); }
    KeyWriter(const KeyWriter&) = delete;
    /// Makes room for `bytes` and `numbers` more; writes below need no further check.
    void reserve(std::size_t bytes, std::size_t numbers) {
        bytes += numbers * sizeof(std::int64_t);
        if (out_.size() < used_ + bytes) out_.resize((used_ + bytes) * 2);
    }
    template <class T> void put(T value) {
        static_assert(std::is_trivially_copyable_v<T>);
        std::memcpy(out_.data() + used_, &value, sizeof value);
        used_ += sizeof value;
    }
    void number(std::int64_t value) { put(value); }
    void numbers(std::span<const std::int64_t> values) {
        put(static_cast<std::uint8_t>(values.size()));
        if (!values.empty()) std::memcpy(out_.data() + used_, values.data(), values.size_bytes());
        used_ += values.size_bytes();
    }

private:
    std::vector<std::uint8_t>& out_;
    std::size_t used_ = 0;
};

/// The same without the numbers: each is written as its place among the different ones.
class ClassWriter {
public:
    explicit ClassWriter(PlanClass& out) : out_(out), bytes_(out.key) {}
    void reserve(std::size_t bytes, std::size_t numbers) { bytes_.reserve(bytes, numbers); }
    template <class T> void put(T value) { bytes_.put(value); }
    void number(std::int64_t value) {
        constexpr std::uint8_t places = 3;  // -1, 0 and 1 stand for themselves
        if (value >= -1 && value <= 1) return put(static_cast<std::uint8_t>(value + 1));
        const auto found = std::find(out_.numbers.begin(), out_.numbers.end(), value);
        const auto place = static_cast<std::size_t>(found - out_.numbers.begin());
        if (place == PlanClass::most_numbers) {
            out_.complete = false;
            return;
        }
        if (found == out_.numbers.end()) out_.numbers.push_back(value);
        put(static_cast<std::uint8_t>(places + place));
    }
    void numbers(std::span<const std::int64_t> values) {
        put(static_cast<std::uint8_t>(values.size()));
        for (const std::int64_t value : values) number(value);
    }

private:
    PlanClass& out_;
    KeyWriter bytes_;
};

/// The same without the numbers, which are listed.
class OutlineWriter {
public:
    explicit OutlineWriter(Subgraph::Outline& out) : out_(out), bytes_(out.structure) {}
    void reserve(std::size_t bytes, std::size_t numbers) { bytes_.reserve(bytes, numbers); }
    template <class T> void put(T value) { bytes_.put(value); }
    void number(std::int64_t value) { out_.numbers.push_back(value); }
    void numbers(std::span<const std::int64_t> values) {
        put(static_cast<std::uint8_t>(values.size()));
        out_.numbers.insert(out_.numbers.end(), values.begin(), values.end());
    }

private:
    Subgraph::Outline& out_;
    KeyWriter bytes_;
};

}  // namespace

template <class Writer> void Subgraph::write(Writer& out) const {
    out.reserve(32, 0);
    out.put(static_cast<std::uint32_t>(fusion_enabled()));
    out.put(target_id);
    out.put(value_id);
    out.put(where_id);
    std::uint32_t buffers = 0;  // how many have been met
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const Node* node = nodes[i];
        out.reserve(64, 2 * static_cast<std::size_t>(node->shape.size()));
        out.put(static_cast<std::uint8_t>(node->kind));
        out.put(static_cast<std::uint8_t>(node->dtype));
        out.put(flags[i]);
        switch (node->kind) {
            case Kind::Leaf: {
                device::Buffer& buffer = *node->buffer;
                if (buffer.mark != mark_) {
                    buffer.mark = mark_;
                    buffer.index = buffers++;
                }
                out.numbers(node->strides);
                out.put(buffer.index);
                break;
            }
            case Kind::Failed:
            case Kind::Transfer:
            case Kind::Call:  // all are leaves by now, or were refused
            case Kind::Constant: break;
            case Kind::Iota: out.put(static_cast<std::uint32_t>(node->axis())); break;
            case Kind::Elementwise: out.put(static_cast<std::uint16_t>(node->op())); break;
            case Kind::View: {
                const graph::ViewMap& view = node->view();
                const auto terms = static_cast<std::size_t>(view.terms.size());
                out.reserve(64 + 8 * terms, terms + static_cast<std::size_t>(view.offsets.size() + node->shape.size()));
                out.numbers(view.offsets);
                out.put(static_cast<std::int8_t>(view.part));
                out.put(static_cast<std::uint16_t>(terms));
                for (const graph::ViewMap::Term& term : view.terms) {
                    out.put(term.base_dim);
                    out.put(term.source);
                    out.number(term.step);
                }
                break;
            }
            case Kind::Reduce:
                out.put(static_cast<std::uint8_t>(node->reduce().op));
                out.put(static_cast<std::uint8_t>(node->reduce().accumulate));
                out.put(node->reduce().axes);
                break;
        }
        bool same_shape = false;
        for (int k = 0; k < node->arity; ++k) {
            const Node* input = node->inputs[k].get();
            out.put(input->index);
            if (k == 0) same_shape = !std::is_same_v<Writer, OutlineWriter> && input->shape == node->shape;
        }
        out.put(static_cast<std::uint8_t>(same_shape));
        if (!same_shape) out.numbers(node->shape);
    }
}

void Subgraph::write_key() {
    KeyWriter out(key);
    write(out);
}

PlanClass Subgraph::plan_class() const {
    PlanClass result;
    {
        ClassWriter out(result);
        write(out);
    }
    return result;
}

std::optional<std::int64_t> integer_of(const Scalar& scalar) {
    constexpr double most = 0x1p62;
    const auto of_float = [](double value) {
        const bool whole = value == std::floor(value) && std::fabs(value) < most && !(value == 0 && std::signbit(value));
        return whole ? std::optional(static_cast<std::int64_t>(value)) : std::nullopt;
    };
    switch (kind_of(scalar.dtype)) {
        case DKind::Signed: return scalar.i;
        case DKind::Unsigned: return scalar.u >> 63 ? std::nullopt : std::optional(static_cast<std::int64_t>(scalar.u));
        case DKind::Float: return of_float(scalar.as_double());
        case DKind::Complex: return scalar.c.im == 0 && !std::signbit(scalar.c.im) ? of_float(scalar.c.re) : std::nullopt;
        case DKind::Bool: break;
    }
    return std::nullopt;
}

Subgraph::Outline Subgraph::outline() const {
    Outline result;
    {
        OutlineWriter out(result);
        write(out);
    }
    for (const Node* node : nodes) {
        result.own.push_back(result.numbers.size());
        result.numbers.push_back(node->kind == Kind::Leaf ? node->offset : 0);
        if (node->kind != Kind::Constant || is_float(node->scalar().dtype)) continue;
        const std::optional<std::int64_t> integer = integer_of(node->scalar());
        result.structure.push_back(integer.has_value());
        if (integer) {
            result.numbers.back() = *integer;
            continue;
        }
        const ScalarWords words = scalar_words(node->scalar());
        const auto* const bytes = reinterpret_cast<const std::uint8_t*>(words.words.data());
        result.structure.insert(result.structure.end(), bytes, bytes + sizeof words.words);
    }
    return result;
}

}  // namespace pardo::plan
