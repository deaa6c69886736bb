import type { Entry } from './verb.ts'

/** Every verb. A file is loaded only when its verb is asked for. */
export const verbs: readonly Entry[] = [
  { name: 'tour', summary: 'show everything once, on a control plane of its own', load: () => import('./commands/tour.ts') },
  { name: 'up', summary: 'bring up a local control plane with Berth on it', load: () => import('./commands/up.ts') },
  { name: 'down', summary: 'end what `up --detach` left running', load: () => import('./commands/down.ts') },
  { name: 'status', summary: 'show what runs, and how many objects of each kind', load: () => import('./commands/status.ts') },
  { name: 'doctor', summary: 'say what is wrong with a cluster or an installation', load: () => import('./commands/doctor.ts') },
  { name: 'crds', summary: 'print the CustomResourceDefinitions', load: () => import('./commands/crds.ts') },
  { name: 'operator', summary: 'run the operator', load: () => import('./commands/operator.ts') },
  { name: 'kas', summary: 'run kas, the server that holds the Git credentials', load: () => import('./commands/kas.ts') },
  { name: 'agent', summary: 'run and look after the agents of target clusters', load: () => import('./commands/agent.ts') },
  { name: 'diff', summary: 'show what a sync of a GitOpsDeployment would do', load: () => import('./commands/diff.ts') },
  { name: 'sync', summary: 'bring a GitOpsDeployment about now', load: () => import('./commands/sync.ts') },
  { name: 'suspend', summary: 'let a GitOpsDeployment rest', load: () => import('./commands/suspend.ts') },
  { name: 'resume', summary: 'let a GitOpsDeployment go on', load: () => import('./commands/resume.ts') },
  { name: 'tree', summary: 'show the objects of a GitOpsDeployment', load: () => import('./commands/tree.ts') },
  { name: 'history', summary: 'list what a GitOpsDeployment had in effect', load: () => import('./commands/history.ts') },
  { name: 'rollback', summary: 'take a GitOpsDeployment back to a commit', load: () => import('./commands/rollback.ts') },
  { name: 'poke', summary: 'let kas look for new commits of a GitProject now', load: () => import('./commands/poke.ts') },
  {
    name: 'validate',
    summary: 'say everything that is wrong with a devfile',
    load: () => import('./commands/validate.ts'),
  },
  {
    name: 'git-server',
    summary: 'serve a folder of Git repositories on loopback',
    load: () => import('./commands/git-server.ts'),
  },
  { name: 'completion', summary: 'print a completion script for your shell', load: () => import('./commands/completion.ts') },
  { name: 'version', summary: 'print the version', load: () => import('./commands/version.ts') },
]
