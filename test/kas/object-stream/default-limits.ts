import type { StreamLimits } from '../../../src/kas/object-stream/index.ts'

/** Wide enough for a folder of ten thousand manifests. Peers that are not Berth set themselves no limit on what they take. */
export const defaultLimits: StreamLimits = { paths: 100, files: 50_000, fileBytes: 5 * 2 ** 20, totalBytes: 100 * 2 ** 20 }
