import { annotations, GitProjects } from '../../api/index.ts'
import { Failure, isFailure, systemClock } from '../../std/index.ts'
import { type ObjectOptions, withObject } from '../find-object.ts'
import { withKube } from '../options.ts'
import { actionVerb } from '../verb.ts'

export const verb = actionVerb({
  description: `Let kas look for new commits of a GitProject now, without waiting for its pollInterval. It writes the annotation ${annotations.poke}, so it needs the right to patch the GitProject and nothing else.`,
  examples: [
    ['berth poke shop -n team-a', 'look now'],
    [`kubectl annotate gitproject shop --overwrite ${annotations.poke}=$RANDOM`, 'the same by hand'],
  ],
  options: (command) => withObject(command, GitProjects),
  async run(shell, name: string, options: ObjectOptions) {
    const { namespace } = options
    const now = new Date(systemClock.now()).toISOString()
    const poke = { metadata: { annotations: { [annotations.poke]: now } } }
    await withKube(shell, options, async (kube) => {
      try {
        await kube.patch(GitProjects, { name, namespace }, poke)
      } catch (thrown) {
        if (!isFailure(thrown, 'not-found')) throw thrown
        throw new Failure('not-found', `there is no GitProject ${name} in namespace ${namespace}.`, {
          cause: thrown,
          remedy: 'List them with `berth get projects -A`, and name the namespace with -n.',
        })
      }
    })
    shell.print(`kas looks for new commits of GitProject ${namespace}/${name}.`)
  },
})
