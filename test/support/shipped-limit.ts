/** What `deploy` gives the operator, and kas, MiB. */
export const LIMIT = 1024

/** What Node takes for its heap, at most, in a container with that limit. */
export const HEAP_OF_LIMIT = `--max-old-space-size=${LIMIT / 2}`
