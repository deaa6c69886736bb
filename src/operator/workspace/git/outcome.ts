import type { Pod } from '../../../api/index.ts'
import { CLONER } from './addition.ts'

/** The last words of the cloner where somebody else's files keep it from cloning (clone-script.ts). */
const FOUND_FILES = /: nothing is cloned$/

/** Says whether the cloner of one of these pods has ended well without a clone; it says so with each start. */
export const foundFiles = (pods: readonly Pod[]): boolean =>
  pods.some(({ metadata, status }) => {
    const cloner = status?.initContainerStatuses?.find(({ name }) => name === CLONER)?.state?.terminated
    return metadata.deletionTimestamp === undefined && cloner?.exitCode === 0 && FOUND_FILES.test(cloner.message ?? '')
  })
