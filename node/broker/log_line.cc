#include "node/broker/log_line.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>

#include "node/broker/log_limit.h"

namespace highwater::node {

void log_line(const std::string& line) {
    static const std::shared_ptr<spdlog::logger> logger = [] {
        auto made =
            std::make_shared<spdlog::logger>("node", std::make_shared<spdlog::sinks::stdout_sink_st>());
        made->set_pattern("[%Y-%m-%d %H:%M:%S,%e] %v");
        made->flush_on(spdlog::level::trace);
        return made;
    }();
    static LogLimit limit;
    const LogLimit::Verdict verdict = limit.admit(monotonic_now(), line);
    if (verdict.before) logger->info(*verdict.before);
    if (verdict.write) logger->info(line);
}

}  // namespace highwater::node
