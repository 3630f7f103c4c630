// Names of peers as this process sees them: its own hosts file, so that the address it dials is the path to
// the peer.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace highwater::node {

class Hosts {
public:
    /// No names: only dotted addresses resolve.
    Hosts() = default;
    /// Lines "ADDRESS NAME…" as in /etc/hosts; '#' begins a comment. Errors name file and line: an address
    /// that is not dotted IPv4, an address without a name, a name that stands there twice with different
    /// addresses.
    static Result<Hosts> parse(std::string_view text, const std::string& file_name);
    /// Errors: also a file that cannot be read.
    static Result<Hosts> load(const std::string& path);

    /// The dotted address of a name of the file, or of a dotted address itself. No other source is asked: a
    /// name that is missing is an error, not a look-up elsewhere.
    [[nodiscard]] Result<std::string> resolve(const std::string& name) const;

private:
    std::map<std::string, std::string, std::less<>> addresses_;
    std::string file_name_;
};

/// "127.1.2.3": four decimal numbers of at most 255.
bool is_dotted_address(std::string_view text);
/// In 127.0.0.0/8.
bool is_loopback_address(std::string_view dotted);

}  // namespace highwater::node
