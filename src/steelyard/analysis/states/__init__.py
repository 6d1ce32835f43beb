"""When iterations of an execution reach a state that can be measured: initialised, independent."""
