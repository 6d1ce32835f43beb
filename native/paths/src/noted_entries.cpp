#include "noted_entries.hpp"

#include "plan.hpp"

namespace steelyard {

bool is_at(const Thread& own, const Frame& frame, std::uint64_t entry_stack,
           std::uint32_t function) {
    return frame.entry_stack == entry_stack && own.nodes[frame.node].function == function &&
           (frame.kind & Frame::seen) != 0;
}

void push(Thread& own, std::uint32_t function, std::uint64_t entry_stack, std::uint32_t kind,
          std::uint64_t call_site) {
    const bool is_first = own.depth == 0;
    const std::uint32_t parent = is_first ? 0 : own.frames[own.depth - 1].node;
    // A signal may come before any walk of the thread's stack has found where that begins.
    const bool has_height = (kind & Frame::elsewhere) == 0 && own.start > entry_stack;
    const std::uint64_t height = has_height ? own.start - entry_stack - word : 0;
    const std::uint32_t node =
        own.tree.child(parent, function, height, call_site & program.kept_sites);
    own.nodes = own.tree.nodes();
    if (node == no_node || own.depth == most_frames) {
        own.tree.header().lost += 1;
        return;
    }
    if (is_first) {
        own.is_ordered = true;
    } else if (own.is_ordered && own.frames[own.depth - 1].entry_stack <= entry_stack) {
        own.is_ordered = false;
        own.forget_entries();
    }
    own.frames[own.depth++] = {entry_stack, node, kind};
    if ((kind & Frame::seen) != 0)
        own.tree.count(node);
}

namespace {

const CallSite* call_site_of(std::uint64_t return_address) {
    const std::uint64_t places = program.call_sites.size();
    std::uint64_t at = call_site_place(return_address, places);
    for (; program.call_sites[at].return_address != 0; at = (at + 1) & (places - 1)) {
        if (program.call_sites[at].return_address == return_address)
            return &program.call_sites[at];
    }
    return nullptr;
}

/// The next entry like the one that was noted last needs no search.
void know(Thread& own, std::uint32_t function, const Entry& entry, const CallSite& site) {
    const bool by_frame = site.frame == CallSite::Frame::by_frame_pointer;
    const auto distance = static_cast<std::int32_t>(site.distance);
    const Frame& entered = own.frames[own.depth - 1];
    const bool is_noted = entered.entry_stack == entry.stack;
    if (!is_noted || !own.is_ordered || distance != site.distance || distance % 2 != 0)
        return;
    own.knows_entries = true;
    own.known.place_of(entry.return_address, entry.stack, function) = {
        entry.return_address,
        static_cast<std::uint32_t>(entry.stack),
        distance + static_cast<std::int32_t>(by_frame),
        entered.node,
        entered.kind,
        static_cast<std::uint32_t>(own.depth - 2),
        function};
}

std::uint64_t word_at(std::uint64_t address) {
    return *reinterpret_cast<const std::uint64_t*>(address);
}

/// Notes an entry that a call of the program led to, whose caller is where its frame table says:
/// `call` is where it called. Nothing where the caller is not there.
const CallSite* enter_from(Thread& own, std::uint32_t function, std::uint64_t entry_stack,
                           const Entry& call) {
    const CallSite* const site = call_site_of(call.return_address - program.bias);
    if (site == nullptr || site->frame == CallSite::Frame::none)
        return nullptr;
    const bool by_stack = site->frame == CallSite::Frame::by_stack_pointer;
    const std::uint64_t caller =
        (by_stack ? call.stack : call.frame_pointer) + static_cast<std::uint64_t>(site->distance);
    while (own.depth > 0 && own.frames[own.depth - 1].entry_stack < caller)
        --own.depth;
    if (own.depth == 0)
        return nullptr;
    const Frame top = own.frames[own.depth - 1];
    if (!is_at(own, top, caller, site->function))
        return nullptr;
    const std::uint32_t kind = Frame::seen | (top.kind & Frame::elsewhere);
    push(own, function, entry_stack, kind, site->return_address);
    return site;
}

/// Notes an entry by a call whose caller is where its frame table says; whether it is.
bool enter_by_call(Thread& own, std::uint32_t function, const Entry& entry) {
    const CallSite* const site = enter_from(own, function, entry.stack, entry);
    if (site != nullptr)
        know(own, function, entry, *site);
    return site != nullptr;
}

/// Notes a callback from a library by steps that are known; whether the calling function of the
/// program was found where its frame table says.
bool enter_through_library(Thread& own, std::uint32_t function, const Entry& entry) {
    constexpr int most_steps = 64;
    if (own.depth == 0 || !own.is_ordered)
        return false;
    const std::uint64_t outermost = own.frames[0].entry_stack;
    Entry call = entry;
    int steps = 0;
    while (const LibraryStep* const step = own.steps.find(call.return_address)) {
        const std::uint64_t before = call.stack;
        call.stack = (step->by_frame_pointer ? call.frame_pointer : before) + step->distance;
        if (++steps > most_steps || call.stack <= before || call.stack >= outermost)
            return false;
        if (step->frame_pointer_below != 0)
            call.frame_pointer = word_at(call.stack - step->frame_pointer_below);
        call.return_address = word_at(call.stack);
    }
    return steps > 0 && enter_from(own, function, entry.stack, call) != nullptr;
}

/// Notes an entry where the stack still reads as when it was walked; whether it does.
bool enter_as_before(Thread& own, std::uint32_t function, const Entry& entry) {
    const RememberedWalk* const walk = own.walks.find(entry);
    if (walk == nullptr)
        return false;
    while (own.depth > 0 && own.frames[own.depth - 1].entry_stack < walk->known_stack)
        --own.depth;
    if (own.depth == 0)
        return false;
    const Frame known = own.frames[own.depth - 1];
    if (!is_at(own, known, walk->known_stack, walk->known_function))
        return false;
    const std::uint32_t elsewhere = known.kind & Frame::elsewhere;
    for (std::uint32_t index = walk->activation_count; index > 0; --index) {
        const auto& activation = walk->activations[index - 1];
        push(own, activation.function, activation.entry_stack, elsewhere, activation.call_site);
    }
    push(own, function, entry.stack, Frame::seen | elsewhere, walk->call_site);
    return true;
}

}  // namespace

bool note_entry(Thread& own, std::uint32_t function, const Entry& entry) {
    return enter_by_call(own, function, entry) || enter_through_library(own, function, entry) ||
           enter_as_before(own, function, entry);
}

}  // namespace steelyard
