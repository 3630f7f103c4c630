// The process log: lines on stdout with the time, as Kafka's console appender writes them.
#pragma once

#include <string>

namespace highwater::node {

/// Writes one line to the process log (stdout): time, then `line`, which begins with INFO, WARN or ERROR. Of
/// many warnings of one kind only some are written (LogLimit). Single-threaded.
void log_line(const std::string& line);

}  // namespace highwater::node
