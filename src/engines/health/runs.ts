import { degraded, fieldsOf, HEALTHY, type Health, progressing, type View } from './view.ts'

/** How what runs to an end does, where that is not how the kind does otherwise. By `group/Kind`; the rest is as ever. */
export const RUNS: Record<string, (view: View) => Health | undefined> = {
  '/Pod': podRun,
  'batch/Job': ({ spec, condition }) =>
    spec.suspend === true && condition('Complete')?.status !== 'True' ? progressing('is suspended') : undefined,
  'argoproj.io/Workflow': workflow,
}

function podRun({ spec, status }: View): Health | undefined {
  const { phase, message, reason } = status
  if (phase === 'Failed') return degraded(String(message ?? reason ?? exitIn(status) ?? 'failed'))
  // One that is always started again never ends: it does well when it is ready.
  const ends = spec.restartPolicy === 'Never' || spec.restartPolicy === 'OnFailure'
  return phase === 'Running' && ends ? progressing('runs') : undefined
}

/** `container migrate ended with exit code 3` */
function exitIn({ containerStatuses }: Record<string, unknown>): string | undefined {
  const exits = (Array.isArray(containerStatuses) ? containerStatuses : []).map((container) => {
    const { name, state } = fieldsOf(container)
    return { name, code: fieldsOf(fieldsOf(state).terminated).exitCode }
  })
  const failed = exits.find(({ code }) => typeof code === 'number' && code !== 0)
  return failed && `container ${failed.name} ended with exit code ${failed.code}`
}

/** https://argo-workflows.readthedocs.io/en/latest/fields/#workflowstatus */
function workflow({ status: { phase = '', message } }: View): Health {
  const said = String(message ?? phase)
  if (phase === 'Succeeded') return HEALTHY
  return phase === 'Failed' || phase === 'Error' ? degraded(said) : progressing(said || 'has not started yet')
}
