// The library that runs models.
#include "engine.cpp"
#include "model.cpp"
#include "burst.cpp"
#include "condition.cpp"
#include "checkpoint.cpp"
#include "record.cpp"
#include "replay.cpp"
#include "network.cpp"
