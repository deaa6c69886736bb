import type { CoreEvent } from '../../../api/index.ts'
import { EDITOR_CHECK } from '../desired/index.ts'
import { type Ended, type SeenContainer, startsOf, symptomOf } from './seen-container.ts'
import type { Symptom } from './symptom.ts'

/** What the runner of the commands says when one has failed, in the words of desired/runner.ts. */
const TOLD = /command postStart\.\S{1,200} (ended with exit code \d{1,3}|took too long); its log is [^\s"\\]{1,300}/

/** The last words of a container whose postStart command has failed, with the end of that command's log; undefined of any other. */
export const postStartWords = (ended: Ended | undefined): string | undefined =>
  ended?.message && TOLD.exec(ended.message)?.index === 0 ? inOneLine(ended.message) : undefined

const inOneLine = (text: string): string => text.trim().replace(/\n+/g, ' | ')

export const hookOf = ({ events }: SeenContainer): CoreEvent | undefined =>
  events.find(({ reason }) => reason === 'FailedPostStartHook')

/** Kubelets write no more than this into the Event, lest it holds a secret. */
const NO_WORDS = /^PostStartHook failed\.?$/

/** `message`: what the kubelet says of the container that waits. It quotes the runner among a lot of its own. */
export function ofPostStart(seen: SeenContainer, message = ''): Symptom {
  const { state, lastState } = seen.status
  const words = postStartWords(state?.terminated) ?? postStartWords(lastState?.terminated) ?? TOLD.exec(message)?.[0]
  const others = [hookOf(seen)?.message, message].filter((each) => each && !NO_WORDS.test(each))
  const isEditor = words?.includes(`.${EDITOR_CHECK} `)
  return symptomOf(seen, {
    ...(isEditor ? { reason: 'EditorNotBrought', step: 'PostStart' } : { reason: 'PostStartFailed' }),
    said: words ?? others[0] ?? 'the postStart command failed, and the container was ended before it could be told how',
    tried: startsOf(seen),
  })
}
