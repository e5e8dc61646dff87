// src/emit/analysis/lane_report.cpp: what of a kernel runs in the lanes of vectors, in words.
#include "emit/analysis/lane_report.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "emit/analysis/fission.h"
#include "emit/analysis/lanes.h"
#include "ir/rules.h"

namespace pardo::emit {
namespace {

class Report {
public:
    explicit Report(const ir::Kernel& kernel)
        : kernel_(kernel), info_(lanes_of(kernel, kernel.in_groups() ? split_at_barriers(kernel) : Fission())) {}

    std::string run() {
        walk(kernel_.body, info_.item_lanes);
        const bool loops = std::find(info_.vector_loop.begin(), info_.vector_loop.end(), true) != info_.vector_loop.end();
        std::string text = info_.item_lanes ? "  items are the lanes of vectors\n"
                           : loops          ? "  a loop's iterations are the lanes of vectors\n"
                                            : "  scalar code: nothing runs in the lanes of vectors\n";
        std::stable_sort(remarks_.begin(), remarks_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
        for (const auto& [line, remark] : remarks_) text += "  line " + std::to_string(line) + ": " + remark + "\n";
        return text;
    }

private:
    void say(const ir::Instr& in, const std::string& remark) {
        const std::pair<std::uint32_t, std::string> said{in.span.line, remark};
        if (in.span.line != 0 && std::find(remarks_.begin(), remarks_.end(), said) == remarks_.end()) remarks_.push_back(said);
    }

    /// The side of an index that is out of range: it is not what the user wrote, and hardly ever runs.
    bool ends_in_report(const ir::Region& region) const {
        return std::any_of(region.body.begin(), region.body.end(), [&](ir::InstrId id) {
            const ir::Instr& in = kernel_.instrs[id];
            return in.op == ir::Opcode::Report || (in.op == ir::Opcode::If && ends_in_report(kernel_.regions[in.regions[1]]));
        });
    }

    void walk(const ir::Region& region, bool in_lanes) {
        for (const ir::InstrId id : region.body) {
            const ir::Instr& in = kernel_.instrs[id];
            if (info_.vector_loop[id]) say(in, "the loop's iterations are the lanes");
            const bool checks = in.op == ir::Opcode::If && ends_in_report(kernel_.regions[in.regions[1]]);
            if (in_lanes && info_.masked[id] && !checks)
                say(in, in.op == ir::Opcode::If ? "divergent lanes: both branches run, each for its own lanes"
                                                : "divergent lanes: the loop runs until the last lane is done");
            if (in_lanes && ir::takes_pointer(in.op)) access(in);
            for (const ir::RegionId r : in.regions) walk(kernel_.regions[r], in_lanes || info_.vector_loop[id]);
        }
    }

    void access(const ir::Instr& in) {
        if (in.op == ir::Opcode::CompareExchange || in.op == ir::Opcode::Report) return;
        const std::string name = "`" + name_of(in.operands[0]) + "`";
        if (in.op == ir::Opcode::Atomic) return say(in, "atomics on " + name + " run lane by lane");
        const LaneShape shape = info_.shapes[in.operands[1]];
        if (is_private(kernel_, in.operands[0]) || shape.kind == LaneShape::Uniform) return;
        const char* done = in.op == ir::Opcode::Load ? " is read" : " is written";
        if (shape.kind == LaneShape::Varying) return say(in, name + done + " at places that are not adjacent, lane by lane");
        if (shape.kind == LaneShape::Strided) return say(in, name + done + " in steps that are known only when it runs, lane by lane");
        if (shape.step != 1 && shape.step != -1) say(in, name + done + " in steps of " + std::to_string(shape.step) + " elements");
    }

    std::string name_of(ir::Value pointer) const {
        for (const ir::Param& p : kernel_.params)
            if (p.value == pointer) return p.name;
        for (const ir::ArrayInfo& a : kernel_.arrays)
            if (a.value == pointer) return a.name;
        return "memory";
    }

    const ir::Kernel& kernel_;
    const LaneInfo info_;
    std::vector<std::pair<std::uint32_t, std::string>> remarks_;
};

}  // namespace

std::string lane_report(const ir::Kernel& kernel) { return Report(kernel).run(); }

}  // namespace pardo::emit
