// tests/unit/backend_opencl/teams_test.cpp: sums of teams, to the bit. With PARDO_OPENCL_EXECUTION=groups processors exchange by sub-groups
// where they can, as GPUs do.
#include <algorithm>
#include <random>

#include "emit/c/geometry.h"
#include "ir/builder.h"
#include "support.h"

namespace pardo::opencl {
namespace {

using device::Access;
using device::Buffer;

constexpr std::int64_t rows = 5, columns = 3001;

/// out[i] = sum of the row i of in.
ir::Kernel row_sums() {
    ir::Builder m("row_sums", 1, false);
    const ir::Value out = m.pointer("out", DType::Float32, ir::Access::Write, true),
                    in = m.pointer("in", DType::Float32, ir::Access::Read, true), n = m.scalar_param("n", DType::Int64);
    const ir::Reduction sum[] = {{ir::Combine::Add, m.constant(DType::Float32, 0.0)}};
    const auto total = m.for_lanes(m.i64(0), n, sum, [&](ir::Value k) { return std::vector{m.load(in, m.add(m.mul(m.dim(0), n), k))}; });
    m.store(out, m.dim(0), total[0]);
    return m.finish();
}

/// Halves are added until one is left.
float tree(std::vector<float> values) {
    for (std::size_t step = values.size() / 2; step > 0; step /= 2) {
        for (std::size_t i = 0; i < step; ++i) values[i] += values[i + step];
    }
    return values[0];
}

/// What a team of `team` items that exchange in sub-groups of `size` gives: first within each, then among them.
float sum_of(const float* row, std::size_t team, std::size_t size) {
    std::vector<float> items(team, 0.f), partial;
    for (std::size_t k = 0; k < columns; ++k) items[k % team] += row[k];
    for (std::size_t at = 0; at < team; at += size) {
        const auto begin = items.begin() + static_cast<std::ptrdiff_t>(at);
        partial.push_back(tree({begin, begin + static_cast<std::ptrdiff_t>(std::min(size, team))}));
    }
    std::vector<float> left(partial.begin(), partial.begin() + static_cast<std::ptrdiff_t>(std::min(partial.size(), size)));
    for (std::size_t k = left.size(); k < partial.size(); ++k) left[k % left.size()] += partial[k];
    return tree(left);
}

std::size_t sub_group_of(const std::string& text) {
    const std::string word = "intel_reqd_sub_group_size(";
    const std::size_t at = text.find(word);
    return at == std::string::npos ? 0 : std::stoul(text.substr(at + word.size()));
}

TEST_F(OpenCl, SumsOfTeamsAreTheSameBitsOnEveryDevice) {
    on_each([](device::Device* d) {
        device::Queue* q = d->queue();
        std::mt19937 random(1);
        std::vector<float> values(rows * columns);
        for (float& v : values) v = static_cast<float>(random()) * 0x1p-20f - 2048.f;
        const Ref<Buffer> in = d->allocate(values.size() * 4, MemoryKind::Device, q), out = d->allocate(rows * 4, MemoryKind::Device, q);
        q->write(in.get(), 0, values.data(), values.size() * 4);
        const ir::Kernel kernel = row_sums();
        for (const int team : {16, 32, 128, 512, 1024}) {
            emit::CGeometry g;
            g.mapping = emit::CMapping::Team;
            g.team = g.group_size = team;
            if (g.group_size > d->info().max_work_group_size) continue;
            const std::size_t size = sub_group_of(d->inspect(kernel, g.encode(), "opencl"));
            const NameSet& extensions = d->info().extensions;
            const auto has = [&](const char* name) {
                return extensions && std::find(extensions->begin(), extensions->end(), name) != extensions->end();
            };
            EXPECT_EQ(size > 0, d->execution() == device::Execution::Groups && has("cl_khr_subgroup_shuffle") &&
                                    has("cl_intel_required_subgroup_size"));
            if (team < static_cast<int>(size)) continue;
            if (team == static_cast<int>(size)) g.group_size = 4 * team;  // through local memory a team is a whole group
            const Ref<device::Program> program = d->compile(kernel, g.encode());
            const std::uint64_t args[] = {reinterpret_cast<std::uint64_t>(out->data()), reinterpret_cast<std::uint64_t>(in->data()),
                                          columns};
            const std::int64_t extents[] = {rows};
            const device::BufferUse uses[] = {{out.get(), Access::Write}, {in.get(), Access::Read}};
            device::Launch l;
            l.program = program.get();
            l.extents = extents;
            l.args = args;
            l.uses = uses;
            q->launch(l).wait();
            std::vector<float> got(rows), expected;
            q->read(got.data(), out.get(), 0, rows * 4);
            for (std::int64_t i = 0; i < rows; ++i)
                expected.push_back(sum_of(&values[static_cast<std::size_t>(i * columns)], static_cast<std::size_t>(team),
                                          size ? size : static_cast<std::size_t>(team)));
            EXPECT_EQ(got, expected) << team;
        }
    });
}

}  // namespace
}  // namespace pardo::opencl
