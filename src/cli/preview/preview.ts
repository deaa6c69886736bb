import { groupVerb } from '../verb.ts'
import { deletion } from './delete.ts'
import { keep } from './keep.ts'
import { list } from './list.ts'
import { open } from './open.ts'

export const verb = groupVerb({
  description: 'Look after the environments that Previews make, one for each branch.',
  examples: [
    ['berth preview list -n team-a', 'which there are, and how they do'],
    ['berth preview open shop feature/cart -n team-a', 'see one in the browser'],
  ],
  parts: [
    { name: 'list', summary: 'list the branches of Previews, and their environments', ...list },
    { name: 'open', summary: 'open the environment of a branch in the browser', ...open },
    { name: 'keep', summary: 'let the environment of a branch not expire', ...keep },
    { name: 'delete', summary: 'end the environment of a branch, until the next push', ...deletion },
  ],
})
