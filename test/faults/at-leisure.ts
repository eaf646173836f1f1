import { constants, setPriority } from 'node:os'

// This process and those it starts come last wherever somebody else has something to do.
setPriority(constants.priority.PRIORITY_LOW)
