// Two handlers of one point as one.
#pragma once

#include "lang/program.h"

namespace allot::lang::compose {

// Each rule of `first` beside each of `second`, in an order in which the first that holds is the pair of those that
// would have answered alone. Fields that the first leaves open are the second's; effects of both run, in this order.
// Indices of parameters, states, reports and warnings are those of one program already.
Handler join(Handler first, Handler second);

// Score and shape are no choice but a chain: the second sees what the first has set.
bool pipes(Point point);

}  // namespace allot::lang::compose
