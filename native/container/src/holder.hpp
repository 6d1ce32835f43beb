// A container from outside: started so that it ends with who asked for it, and ended without a
// trace.

#pragma once

#include <sys/types.h>

#include "options.hpp"

namespace steelyard {

/// Starts the container of `options.state` and comes back when it is ready. It outlives this
/// process where `detached`, but not the parent of this process. Throws Fatal.
void hold(const Options& options, bool detached);

/// Runs the command of `options` in the container, with the environment of this process; its output
/// becomes that of this process.
void run_inside(const Options& options);

/// Saves what is there into the folder `options.save`, which is made.
void save(const Options& options);

/// Runs the collect script and takes the archive that it names; writes the report.
void collect(const Options& options);

/// Runs the scripts that `options.command` names one after the other, the last one as the collect
/// script, and shows what each prints.
void rehearse(const Options& options);

/// Ends the container and removes its state.
void end(const Options& options);

}  // namespace steelyard
