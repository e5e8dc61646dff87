// examples/cpp/events.cpp: work that waits for other work and for the host: events of operations, tasks of the host, an event of one's own,
// times of a profiling queue.
#include <cstdio>
#include <memory>

#include <pardo/array.h>
#include <pardo/event.h>
#include <pardo/ops.h>
#include <pardo/queue.h>

int main() {
    const pardo::Queue queue(pardo::Device(), pardo::QueueOrder::OutOfOrder, true);
    const pardo::Array x = pardo::arange(0, 1'000'000, 1, pardo::DType::Float64, queue);
    const pardo::Array first = pardo::sqrt(x), second = pardo::sum(first);

    const pardo::UserEvent gate("examples/cpp/events.cpp");
    const pardo::Event roots = queue.submit({first}, {gate.event()});  // nothing runs before the gate opens
    const bool held = !roots.done() && roots.waits_for_user_event();
    gate.set_complete();
    const pardo::Event total = queue.submit({second}, {roots});

    // The host's part runs on a thread of the library when the total is there; what it gives is the event's value.
    const pardo::Event half = queue.host_task([&] { return std::make_shared<double>(second.item<double>() / 2); }, "half", {total});
    half.wait();
    const double value = *std::static_pointer_cast<double>(half.value());

    const int winner = pardo::wait_any({roots, total});
    const pardo::Profiling times = total.profiling();
    std::printf("sum of roots / 2: %.6f, waited for the gate: %s, event %d of two was over first, the sum took %lld us\n", value,
                held ? "yes" : "no", winner, static_cast<long long>((times.end - times.start) / 1000));
    std::printf("the array's last write is over: %s\n", second.event().done() ? "yes" : "no");
    return held && value > 333'333'082 && value < 333'333'084 ? 0 : 1;
}
