/** What one request may cost. Each limit has its own error. */
export interface Limits {
  /** Path patterns in a request. */
  paths: number
  /** Files under the folders of the patterns, whether they match or not. */
  files: number
  /** Bytes of one file. */
  fileBytes: number
  /** Bytes of all files together. */
  totalBytes: number
}

/** Wide enough for a folder of ten thousand manifests. Peers that are not Berth set themselves no limit on what they take. */
export const defaultLimits: Limits = { paths: 100, files: 50_000, fileBytes: 5 * 2 ** 20, totalBytes: 100 * 2 ** 20 }
