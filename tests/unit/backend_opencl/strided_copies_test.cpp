// tests/unit/backend_opencl/strided_copies_test.cpp: copies of regions, and prefetch, on every OpenCL device of the machine.
#include "../device/strided_copy_support.h"

#include <pardo/profile.h>

#include "support.h"

namespace pardo::opencl {
namespace {

using device::Buffer;
using device::test::expect_region;
using device::test::region_block;

TEST_F(OpenCl, BoxesWithinADevice) {
    on_each([](device::Device* d) {
        for (const QueueOrder order : {QueueOrder::InOrder, QueueOrder::OutOfOrder}) {
            const Ref<device::Queue> q = d->create_queue(order, false);
            const Ref<Buffer> a = d->allocate(region_block, MemoryKind::Device, q.get()),
                              b = d->allocate(region_block, MemoryKind::Device, q.get());
            for (const auto& region : device::test::regions()) expect_region(q.get(), a.get(), b.get(), region);
        }
    });
}

TEST_F(OpenCl, BoxesBetweenAllDevicesAndTheHost) {
    on_each([](device::Device* d) {
        std::vector<device::Device*> others = devices();
        others.push_back(device::select("cpu"));
        for (device::Device* other : others) {
            SCOPED_TRACE(other->id());
            const Ref<Buffer> mine = d->allocate(region_block, MemoryKind::Device, d->queue());
            const Ref<Buffer> theirs = other->allocate(region_block, MemoryKind::Device, other->queue());
            for (const auto& region : device::test::regions()) {
                if (rows_of(region.region) > 100) continue;  // between drivers each row goes through the host
                expect_region(d->queue(), mine.get(), theirs.get(), region);
                expect_region(d->queue(), theirs.get(), mine.get(), region);
            }
        }
    });
}

TEST_F(OpenCl, BoxesWithinOneBuffer) {
    on_each([](device::Device* d) {
        device::Queue* q = d->queue();
        const Ref<Buffer> b = d->allocate(256, MemoryKind::Device, q);
        const auto run = [&](const device::StridedCopy& region) {
            std::vector<char> bytes(256), got(256);
            for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i);
            q->write(b.get(), 0, bytes.data(), bytes.size());
            q->copy_strided(b.get(), b.get(), region).wait();
            q->read(got.data(), b.get(), 0, got.size());
            for_each_row(region, [&](std::int64_t to, std::int64_t from) { std::memcpy(&bytes[to], &bytes[from], region.extents[0]); });
            EXPECT_EQ(got, bytes);
        };
        device::StridedCopy region;
        region.extents[0] = 4, region.extents[1] = 4, region.extents[2] = 2;
        region.to_offset = 128, region.to_pitches[0] = 8, region.to_pitches[1] = 40;
        region.from_offset = 1, region.from_pitches[0] = 8, region.from_pitches[1] = 40;
        run(region);  // one half to the other
        region.from_pitches[1] = 48;
        run(region);
        region.from_pitches[0] = 9;
        run(region);
        region.to_offset = 4, region.from_offset = 0;  // between each other
        region.from_pitches[0] = 8, region.from_pitches[1] = 40;
        run(region);
    });
}

TEST_F(OpenCl, ABoxIsOneCopyOfAProfile) {
    on_each([](device::Device* d) {
        device::Queue* q = d->queue();
        const Ref<Buffer> a = d->allocate(region_block, MemoryKind::Device, q), b = d->allocate(region_block, MemoryKind::Device, q);
        const pardo::Profile profile;
        expect_region(q, a.get(), b.get(), device::test::regions()[0]);
        int copies = 0;
        for (const ProfileRecord& r : profile.records()) copies += r.activity == Activity::Copy;
        EXPECT_EQ(copies, 1);
    });
}

TEST_F(OpenCl, PrefetchMovesNoBytes) {
    on_each([](device::Device* d) {
        for (const MemoryKind kind : {MemoryKind::Device, MemoryKind::Shared, MemoryKind::Host}) {
            device::Queue* q = d->queue();
            Ref<Buffer> b;
            try {
                b = d->allocate(4096, kind, q);
            } catch (const Error&) {
                continue;  // the device has no such memory
            }
            const std::vector<char> bytes(4096, 7);
            q->write(b.get(), 0, bytes.data(), bytes.size());
            q->prefetch(b.get(), 128, 1000).wait();
            q->prefetch(b.get(), 0, 4096).wait();
            std::vector<char> got(4096);
            q->read(got.data(), b.get(), 0, got.size());
            EXPECT_EQ(got, bytes);
        }
    });
}

}  // namespace
}  // namespace pardo::opencl
