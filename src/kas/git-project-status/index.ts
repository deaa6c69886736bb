/**
 * The status of GitProjects: whether the repository can be read, by which reason not and what helps, and which commits were seen.
 * Nobody else writes it. It polls nothing by itself but projects of which nothing is known, or nothing good. Two projects of one
 * path are told apart here too: the younger one says so.
 * Read status.ts and path.ts (pure) first, then report.ts and first-look.ts.
 */
export { reportStatus } from './report.ts'
export { servedIn } from './status.ts'
