// One visitor for std::variant: std::visit(overloaded{[](const A&) {…}, [](const B&) {…}}, value).
#pragma once

namespace highwater {

template <class... Lambdas>
struct overloaded : Lambdas... {
    using Lambdas::operator()...;
};
template <class... Lambdas>
overloaded(Lambdas...) -> overloaded<Lambdas...>;

}  // namespace highwater
