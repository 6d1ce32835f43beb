// How one call of the program asks the first process of a container for something: a message of
// words and open files over a socket in the state's folder.

#pragma once

#include <string>
#include <vector>

namespace steelyard {

/// What is asked, or answered.
struct Message {
    std::vector<std::string> words;
    std::vector<int> files;  ///< open descriptors; whoever receives them closes them
};

/// A socket that listens in the folder `state`.
int listen_in(const std::string& state);

/// A connection to the container of a folder of state, closed at the end of its block: the
/// container serves one after the other.
class Connection {
  public:
    /// Throws Fatal where no container is there.
    explicit Connection(const std::string& state);
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;
    ~Connection();

    int socket() const { return socket_; }

  private:
    int socket_ = -1;
};

/// Sends a message. Throws Fatal.
void send_message(int socket, const Message& message);

/// Waits for a message; one without words where the other side is gone.
Message receive_message(int socket);

/// Asks and waits for the answer. Throws Fatal with the words of an answer that is an error.
std::vector<std::string> ask(int socket, const Message& message);

}  // namespace steelyard
