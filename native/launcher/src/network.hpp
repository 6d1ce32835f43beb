// Cuts a program off from the network, by a namespace that all trials that ask for it share.

#pragma once

namespace steelyard {

/// A network namespace without any interface that is up, made once and joined by each program:
/// making one per trial would leave its asynchronous teardown to disturb the next trial.
class PrivateNetwork {
  public:
    PrivateNetwork() = default;
    PrivateNetwork(const PrivateNetwork&) = delete;
    PrivateNetwork& operator=(const PrivateNetwork&) = delete;
    ~PrivateNetwork();

    /// Makes the namespace, inside a user namespace where the caller is not privileged.
    /// Does nothing the second time. Throws Fatal where neither is allowed.
    void make();

    /// Moves the calling process into it; 0, or the errno of what failed.
    int join() const noexcept;

  private:
    int user_ = -1;
    int network_ = -1;
};

}  // namespace steelyard
