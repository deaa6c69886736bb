import { annotations, type GitOpsDeployment } from '../../../api/index.ts'

/** What the status takes. */
const LONGEST = 256

/**
 * What somebody asks for by the annotation and has not been answered yet. The answer stands in the status, so that a restart does
 * not answer it again, past a sync window that has closed since.
 */
export function askedOf(deployment: GitOpsDeployment): string | undefined {
  const word = wordOf(deployment)
  return word === deployment.status?.lastHandledSync ? undefined : word
}

/** The part of a status that says that it was answered. */
export function answerTo(deployment: GitOpsDeployment): { lastHandledSync?: string } {
  const word = wordOf(deployment)
  return word === undefined ? {} : { lastHandledSync: word }
}

const wordOf = ({ metadata }: GitOpsDeployment): string | undefined =>
  metadata.annotations?.[annotations.sync]?.slice(0, LONGEST) || undefined
