/**
 * All that is under way through the proxy, judged again whenever something changes that the decision was made by: a Workspace,
 * somebody's sessions, the time. What may no longer be is hung up on. Read streams.ts.
 */
export { createStreams, type OpenStream, type Streams } from './streams.ts'
