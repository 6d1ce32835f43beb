#include "recording.hpp"

#include <unistd.h>

#include <mutex>
#include <utility>

namespace steelyard {

namespace {

std::string numbered(const std::string& path, unsigned number) {
    return number == 0 ? path : path + "." + std::to_string(number);
}

// How the kernel calls a thread that has ended and is only being taken away.
constexpr std::uint32_t buried_thread = 0xffff'ffff;

// Of the looks at keys that are believed, those whose stack is walked again.
constexpr double check_ratio = 1.0 / 32;

// Of what perf_event_open(2) puts between the addresses of a chain.
constexpr std::uint64_t first_mark = 0xffff'ffff'ffff'f000U;

}  // namespace

Recording::Recording(Storage storage, Depth depth)
    : storage_(std::move(storage)),
      depth_(depth),
      file_(std::make_unique<ProfileFile>(storage_.path, storage_.header_json)),
      bases_(storage_.stack_notes.empty() ? nullptr : stack_bases()),
      filter_(filter()) {
    if (!storage_.ambiguous_keys.empty())
        ambiguous_ = AmbiguousKeys::read_file(storage_.ambiguous_keys);
}

std::unique_ptr<WalkFilter> Recording::filter() const {
    if (!storage_.ambiguous_keys.empty())
        return WalkFilter::make_parting();
    return storage_.spared_name.empty() ? nullptr : WalkFilter::make(check_ratio);
}

std::optional<Recording::Walks> Recording::walks() const {
    return ambiguous_ ? std::optional(Walks{walks_, walked_frames_}) : std::nullopt;
}

std::unique_ptr<StackBases> Recording::stack_bases() {
    const auto beginning = [this](const StackNote& note) {
        return stack_beginning(note, unwinder_, [&](std::uint64_t address) {
            return following_.place_of(note.process, address);
        });
    };
    return std::make_unique<StackBases>(storage_.stack_notes, beginning,
                                        [this](const StackBase& base) { file_->write(base); });
}

void Recording::follow(pid_t process) {
    const std::scoped_lock lock(mutex_);
    following_.add(static_cast<std::uint32_t>(process));
}

void Recording::begin() {
    const std::scoped_lock lock(mutex_);
    file_->begin();
}

void Recording::take(const Sample& sample) {
    const std::scoped_lock lock(mutex_);
    if (is_of_program(sample))
        write_sample(sample);
    else
        // The CPU was idle, or somebody else's, who is nobody's business.
        write_look(sample.time_ns, sample.cpu);
    rotate_if_full();
}

void Recording::take_event(const Sample& sample) {
    const std::scoped_lock lock(mutex_);
    if (!is_of_program(sample))
        return;
    write_sample(sample);
    rotate_if_full();
}

bool Recording::is_of_program(const Sample& sample) {
    return sample.process != 0 && sample.thread != buried_thread &&
           following_.includes(sample.process, sample.time_ns);
}

void Recording::write_sample(const Sample& sample) {
    if (bases_)
        bases_->look_at(sample.process);
    copied_bytes_ += sample.copy.bytes.size();
    if (ambiguous_)
        file_->write(with_telling_callers(sample, *ambiguous_));
    else if (depth_.stack_copy && !storage_.program.empty())
        file_->write(with_program_frame(sample));
    else if (depth_.stack_copy)
        file_->write(with_callers(sample));
    else
        file_->write(depth_.frame_pointers ? with_frameless_caller(sample) : sample);
    ++samples_;
}

void Recording::take_look(std::uint64_t time_ns, std::uint32_t cpu) {
    const std::scoped_lock lock(mutex_);
    write_look(time_ns, cpu);
    rotate_if_full();
}

void Recording::write_look(std::uint64_t time_ns, std::uint32_t cpu) {
    Sample look;
    look.time_ns = time_ns;
    look.cpu = cpu;
    file_->write(look);
}

Sample Recording::with_callers(const Sample& sample) {
    const auto& chain = unwinder_.chain(sample.copy, [&](std::uint64_t address) {
        return following_.place_of(sample.process, address);
    });
    if (filter_ && unwinder_.reached_start())
        note_walk(sample, chain);
    Sample whole = sample;
    whole.chain = chain.data();
    whole.chain_length = chain.size();
    return whole;
}

/// Where the path of its key is ambiguous, the callers that tell it.
Sample Recording::with_telling_callers(const Sample& sample, const AmbiguousKeys& keys) {
    const auto lookup = [&](std::uint64_t address) {
        return following_.place_of(sample.process, address);
    };
    const auto* const paths = paths_of(sample, keys, lookup);
    if (paths == nullptr)
        return sample;
    if (filter_) {
        const auto function = unwinder_.function_at(sample.user_address, 0, lookup);
        filter_->believe({sample.stack_pointer, sample.user_address});
        filter_->believe({sample.stack_pointer, function.value_or(sample.user_address)});
    }
    if (sample.copy.bytes.empty())
        return sample;
    RemainingPaths left(*paths);
    bool is_caller = false;
    const auto is_told = [&](std::uint64_t address) {
        const auto place = std::exchange(is_caller, true) ? lookup(address) : std::nullopt;
        if (!place || !is_of_named_program(*place))
            return false;
        const auto function = unwinder_.linked_function_at(address, 1, lookup);
        // What leads a call on is a part of no function.
        const std::uint64_t whole = function ? keys.whole(*function) : 0;
        if (whole != 0)
            left.take(whole);
        return left.is_told();
    };
    const auto& chain = unwinder_.chain_until(is_told, sample.copy, lookup);
    ++walks_;
    walked_frames_ += chain.size();
    Sample told = sample;
    told.chain = chain.data();
    told.chain_length = chain.size();
    return told;
}

/// Those of its key; null where that means one, or none that is known.
const std::vector<Callers>* Recording::paths_of(const Sample& sample, const AmbiguousKeys& keys,
                                                const Lookup& lookup) {
    const auto place = lookup(sample.user_address);
    if (!place || !is_of_named_program(*place) || !bases_)
        return nullptr;
    const auto base = bases_->base_of(sample.process, sample.thread);
    const auto function = unwinder_.linked_function_at(sample.user_address, 0, lookup);
    const auto frame = unwinder_.frame_at(sample.copy, lookup);
    return base && function && frame ? keys.paths_of(*function, *base - *frame) : nullptr;
}

bool Recording::is_of_named_program(const FilePlace& place) const {
    if (place.build_id != nullptr && !place.build_id->empty())
        return *place.build_id == storage_.spared_build;
    return place.path->substr(place.path->rfind('/') + 1) == storage_.spared_name;
}

/// Of a stack that was walked to its end.
void Recording::note_walk(const Sample& sample, const std::vector<std::uint64_t>& chain) {
    const auto lookup = [&](std::uint64_t address) {
        return following_.place_of(sample.process, address);
    };
    const auto frame = unwinder_.frame_at(sample.copy, lookup);
    const auto function = unwinder_.function_at(sample.user_address, 0, lookup);
    if (!frame || !function)
        return;
    // FNV-1a over where the functions begin: calls from several places of one are one path.
    std::uint64_t path = 0xcbf2'9ce4'8422'2325U;
    for (std::size_t at = 0; at < chain.size(); ++at) {
        const auto start = unwinder_.function_at(chain[at], at == 0 ? 0 : 1, lookup);
        path = (path ^ start.value_or(chain[at])) * 0x100'0000'01b3U;
    }
    const Belief change = walked_.walked({sample.process, *function, *frame},
                                         {sample.stack_pointer, sample.user_address}, path);
    for (const LookPlace& place : change.believed) {
        filter_->believe(place);
        filter_->believe({place.stack_pointer, *function});
    }
    for (const LookPlace& place : change.doubted) {
        filter_->doubt(place);
        filter_->doubt({place.stack_pointer, *function});
    }
}

/// Where the program's code is, in which looks are walked.
void Recording::note_code(const Mapping& mapping) {
    if (is_of_named_program({&mapping.path, mapping.offset, mapping.process, &mapping.build_id}))
        watch_code(mapping);
}

void Recording::watch_code(const Mapping& mapping) {
    filter_->watch(mapping.start, mapping.start + mapping.length);
    if (code_offset_ == mapping.offset)
        return;
    WalkFilter::Functions functions;
    // Of code that is mapped in several pieces nothing is known but its instructions.
    if (!code_offset_) {
        const FilePlace place{&mapping.path, mapping.offset, mapping.process, &mapping.build_id};
        for (const auto& [start, end] : unwinder_.functions_in(place))
            if (start >= mapping.offset)
                functions.add(start - mapping.offset, end - mapping.offset);
    }
    filter_->know(functions);
    code_offset_ = mapping.offset;
}

/// Of a sample in a library the frames up to the program's last one, with its registers.
Sample Recording::with_program_frame(const Sample& sample) {
    const auto registers = unwinder_.registers_in(
        storage_.program, sample.copy,
        [&](std::uint64_t address) { return following_.place_of(sample.process, address); });
    if (!registers)
        return sample;
    const auto& chain = unwinder_.last_chain();
    Sample walked = sample;
    walked.stack_pointer = (*registers)[stack_register];
    walked.base_pointer = (*registers)[frame_register];
    walked.chain = chain.data();
    walked.chain_length = chain.size();
    return walked;
}

Sample Recording::with_frameless_caller(const Sample& sample) {
    // Marks of the kernel stand before the sampled address.
    std::size_t at = 0;
    while (at < sample.chain_length && sample.chain[at] >= first_mark)
        ++at;
    if (at >= sample.chain_length)
        return sample;
    const auto caller = unwinder_.frameless_caller(sample.copy, [&](std::uint64_t address) {
        return following_.place_of(sample.process, address);
    });
    const bool is_known = at + 1 < sample.chain_length && caller == sample.chain[at + 1];
    if (!caller || *caller == 0 || is_known)
        return sample;
    chain_.assign(sample.chain, sample.chain + sample.chain_length);
    chain_.insert(chain_.begin() + static_cast<std::ptrdiff_t>(at) + 1, *caller);
    Sample whole = sample;
    whole.chain = chain_.data();
    whole.chain_length = chain_.size();
    return whole;
}

void Recording::take(const SideBandRecord& record) {
    const std::scoped_lock lock(mutex_);
    if (const auto* started = std::get_if<Started>(&record)) {
        following_.started(*started);
        if (following_.includes(started->process, started->time_ns)) {
            file_->write_start(*started);
            if (bases_)
                bases_->started(*started);
        }
    } else if (const auto* ended = std::get_if<Ended>(&record)) {
        if (following_.includes(ended->process, ended->time_ns))
            file_->write_end(*ended);
        following_.ended(*ended);
        if (bases_)
            bases_->ended(*ended);
    } else if (const auto* mapping = std::get_if<Mapping>(&record)) {
        if (!following_.includes(mapping->process, mapping->time_ns))
            return;
        following_.mapped(*mapping);
        if (filter_)
            note_code(*mapping);
        file_->write(*mapping);
    } else if (const auto* comm = std::get_if<Comm>(&record)) {
        if (!following_.includes(comm->process, comm->time_ns))
            return;
        following_.named(*comm);
        if (bases_)
            bases_->named(*comm);
        file_->write(*comm);
    } else if (const auto* lost = std::get_if<Lost>(&record)) {
        lost_ += lost->records;
        file_->write_lost(0, lost->records);
    }
}

void Recording::flush() {
    const std::scoped_lock lock(mutex_);
    if (bases_)
        bases_->take_notes();
    file_->flush();
}

void Recording::summarize(const std::string& summary_json) {
    const std::scoped_lock lock(mutex_);
    if (bases_)
        bases_->take_notes();
    file_->write_summary(summary_json);
    file_->flush();
}

std::vector<pid_t> Recording::followed() {
    const std::scoped_lock lock(mutex_);
    return following_.processes();
}

void Recording::rotate_if_full() {
    if (storage_.limit_bytes == 0 || file_->bytes() < storage_.limit_bytes)
        return;
    file_->flush();
    ++file_number_;
    file_ =
        std::make_unique<ProfileFile>(numbered(storage_.path, file_number_), storage_.header_json);
    following_.restate([this](const auto& record) { file_->write(record); });
    if (bases_)
        bases_->restate();
    if (storage_.kept_files > 0 && file_number_ >= storage_.kept_files)
        unlink(numbered(storage_.path, file_number_ - storage_.kept_files).c_str());
}

}  // namespace steelyard
