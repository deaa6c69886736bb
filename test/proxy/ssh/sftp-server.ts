import { serveSftp } from '../../../src/adapters/ssh/index.ts'
import { podFiles } from '../../../src/proxy/ssh/pod-files.ts'
import { localPlace } from './local-pod.ts'

/** Stands in place of an sftp-server: `sftp -D`. */
const [, , folder = ''] = process.argv
const { signal } = new AbortController()
await serveSftp(
  {
    input: process.stdin,
    write: (bytes) => new Promise((resolve) => process.stdout.write(bytes, () => resolve())),
    end: () => undefined,
    closed: signal,
    received: () => 0,
  },
  podFiles(localPlace(folder), folder, signal),
)
