import { verbWithParts } from '../verb.ts'
import { verb as workspace } from '../workspace/create.ts'
import { claim } from './create-claim.ts'
import { deployment } from './create-deployment.ts'
import { environment } from './create-environment.ts'
import { project } from './create-project.ts'

export const verb = verbWithParts(workspace, [
  { name: 'workspace', summary: 'make a workspace; also one that is called like a kind', ...workspace },
  { name: 'claim', summary: 'claim a place to run (DeploymentTargetClaim)', ...claim },
  { name: 'environment', summary: 'name a place for deployments (Environment)', ...environment },
  { name: 'project', summary: 'let kas know a Git repository (GitProject)', ...project },
  { name: 'deployment', summary: 'keep a directory of Git in effect (GitOpsDeployment)', ...deployment },
])
