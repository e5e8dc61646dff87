// src/ir/passes/reports.cpp: the pass that lets innermost loops remember their first failed check, and report it when they end.
#include <algorithm>
#include <vector>

#include "ir/passes/rewrite.h"
#include "ir/rules.h"

namespace pardo::ir {
namespace {

/// Whether a region does nothing but report one failure; which.
const Instr* only_report(const Kernel& kernel, const Region& region) {
    const Instr* found = nullptr;
    for (const InstrId id : region.body) {
        const Instr& in = kernel.instrs[id];
        if (in.op == Opcode::Report && !found)
            found = &in;
        else if (in.op != Opcode::Const && in.op != Opcode::Yield)
            return nullptr;
    }
    return found;
}

/// A branch of which one side does nothing but report.
struct Site {
    const Instr* branch;
    const Instr* report;
    int side;                    // that reports
    std::vector<Value> varying;  // operands of the report that the loop makes
};

class DeferReports : public Rewriter {
public:
    DeferReports(const Kernel& from, const std::vector<bool>& barriers)
        : Rewriter(from), barriers_(barriers), of_loop_(from.values.size()), holds_sites_(from.instrs.size()) {}

private:
    void instr(const Instr& in) override {
        if (std::ranges::find(sites_, &in, &Site::report) != sites_.end()) return;
        if (in.op == Opcode::For && sites_.empty() && may_defer(in)) return loop(in);
        const auto site = std::ranges::find(sites_, &in, &Site::branch);
        const bool reports = site != sites_.end();  // and then no loop is in it, which would have sites of its own
        if (holds_sites_[id_of(in)])
            branch(in);
        else
            Rewriter::instr(in);
        if (reports) remember(*site);
    }

    InstrId id_of(const Instr& in) const { return static_cast<InstrId>(&in - from_.instrs.data()); }
    bool is_const(Value v) const {
        const Instr* in = definition(from_, v);
        return in && in->op == Opcode::Const;
    }

    /// Finds the sites of a serial loop without inner loops and barriers. False if there are none.
    bool may_defer(const Instr& in) {
        if (in.loop_kind() != LoopKind::Serial || barriers_[id_of(in)]) return false;
        of_loop_.assign(of_loop_.size(), false);
        const Region& body = region(in, 0);
        for (const Value v : body.args) of_loop_[v] = true;
        if (!collect(body)) forget();
        return !sites_.empty();
    }

    void forget() {
        sites_.clear();
        holds_sites_.assign(holds_sites_.size(), false);
    }

    /// False if there is a loop in it.
    bool collect(const Region& body) {
        for (const InstrId id : body.body) {
            const Instr& in = from_.instrs[id];
            if (in.op == Opcode::For || in.op == Opcode::While) return false;
            for (const Value v : in.results) of_loop_[v] = true;
            if (in.op != Opcode::If) continue;
            const int side = only_report(from_, region(in, 1)) ? 1 : 0;
            if (const Instr* report = only_report(from_, region(in, side))) {
                sites_.push_back({&in, report, side, {}});
                for (const Value v : report->operands)
                    if (of_loop_[v] && !is_const(v)) sites_.back().varying.push_back(v);
            }
            const std::size_t before = sites_.size();
            if (!collect(region(in, 0)) || !collect(region(in, 1))) return false;
            holds_sites_[id] = sites_.size() > before;
        }
        return true;
    }

    /// The loop carries the number of the site that failed first, 0 for none, and what its report wants to know.
    void loop(const Instr& in) {
        const Region& body = region(in, 0);
        const auto own = static_cast<std::size_t>(in.results.size());
        std::size_t words = 0;
        for (const Site& s : sites_) words = std::max(words, s.varying.size());
        Values initial = mapped(std::span<const Value>(in.operands).subspan(3));
        for (std::size_t k = 0; k <= words; ++k) initial.push_back(m_.i64(0));
        Values yields;
        const auto step = [&](Value index, std::span<const Value> carried) {
            set(body.args[0], index);
            assign(std::span<const Value>(body.args).subspan(1), carried.first(own));
            state_.assign(carried.begin() + static_cast<std::ptrdiff_t>(own), carried.end());
            region_body(body, yields);
            yields.insert(yields.end(), state_.begin(), state_.end());
            return yields;
        };
        Values results = m_.for_loop(at(in.operands[0]), at(in.operands[1]), at(in.operands[2]), initial, step, in.loop().unroll);
        state_.assign(results.begin() + static_cast<std::ptrdiff_t>(own), results.end());
        results.resize(own);
        assign(in.results, results);
        const Values state = state_;
        for (std::size_t k = 0; k < sites_.size(); ++k) report(sites_[k], static_cast<std::int64_t>(k) + 1, state);
        forget();
    }

    void report(const Site& site, std::int64_t number, const Values& state) {
        const auto tell = [&] {
            Values operands;
            for (const Value v : site.report->operands) {
                const auto saved = std::ranges::find(site.varying, v);
                if (saved != site.varying.end())
                    operands.push_back(state[static_cast<std::size_t>(saved - site.varying.begin()) + 1]);
                else
                    operands.push_back(of_loop_[v] ? m_.constant(type(v), definition(from_, v)->scalar()) : at(v));
            }
            m_.set_span(site.report->span);
            m_.report(operands[0], std::span<const Value>(operands).subspan(1));
            return Values();
        };
        m_.if_else(m_.eq(state[0], m_.i64(number)), tell, [] { return Values(); });
    }

    /// A branch that holds sites: its sides yield the state too.
    void branch(const Instr& in) {
        const auto own = static_cast<std::size_t>(in.results.size());
        const Values before = state_;
        const auto side = [&](int k) {
            Values yields;
            state_ = before;
            region_body(region(in, k), yields);
            yields.insert(yields.end(), state_.begin(), state_.end());
            return yields;
        };
        Values results = m_.if_else(
            at(in.operands[0]), [&] { return side(0); }, [&] { return side(1); });
        state_.assign(results.begin() + static_cast<std::ptrdiff_t>(own), results.end());
        results.resize(own);
        assign(in.results, results);
    }

    /// Selects, not a branch: loads of later iterations pass them.
    void remember(const Site& site) {
        const Value condition = at(site.branch->operands[0]), passes = site.side == 1 ? condition : m_.bit_not(condition);
        const Value keeps = m_.bit_or(passes, m_.ne(state_[0], m_.i64(0)));
        state_[0] = m_.select(keeps, state_[0], m_.i64(&site - sites_.data() + 1));
        for (std::size_t k = 0; k < site.varying.size(); ++k) state_[k + 1] = m_.select(keeps, state_[k + 1], at(site.varying[k]));
    }

    const std::vector<bool>& barriers_;
    std::vector<bool> of_loop_;      // one a value: the loop makes it
    std::vector<bool> holds_sites_;  // one an instruction: a side of it holds some
    std::vector<Site> sites_;        // of the loop that is being rebuilt
    Values state_;                   // the number of the site that failed first, and the operands of its report
};

}  // namespace

Kernel defer_reports(const Kernel& kernel) {
    const auto reports = [](const Instr& in) { return in.op == Opcode::Report; };
    if (std::ranges::none_of(kernel.instrs, reports)) return kernel;
    const std::vector<bool> barriers = barriers_of(kernel);
    return DeferReports(kernel, barriers).run();
}

}  // namespace pardo::ir
