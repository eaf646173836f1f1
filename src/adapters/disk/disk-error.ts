import { SlipwayError } from '../../api/slipway-error.ts'

/** Does it; what the file system refuses becomes a SlipwayError that names the path. */
export async function namingPath<T>(path: string, act: () => T | Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    throw error instanceof SlipwayError ? error : diskError(path, error)
  }
}

export function diskError(path: string, error: unknown): SlipwayError {
  const code = codeOf(error)
  const nextStep = {
    DiskFull: `free space on the file system of ${path}`,
    DiskNotFound: `look whether ${path} was moved or deleted`,
    DiskFailed: `look at the kernel’s log and at the rights on ${path}`,
  }[code]
  const message = error instanceof Error ? error.message : String(error)
  return new SlipwayError(code, `${path}: ${message}`, { nextStep, cause: error, path })
}

function codeOf(error: unknown): 'DiskFull' | 'DiskNotFound' | 'DiskFailed' {
  switch (systemCode(error)) {
    case 'ENOSPC':
    case 'EDQUOT':
      return 'DiskFull'
    case 'ENOENT':
      return 'DiskNotFound'
    default:
      return 'DiskFailed'
  }
}

export function systemCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

/** Whether there is no such file or folder; below a file there is nothing, either. */
export function isMissing(error: unknown): boolean {
  const code = systemCode(error)
  return code === 'ENOENT' || code === 'ENOTDIR'
}

/** For `catch`: undefined where there is no such file or folder. */
export function unlessMissing(error: unknown): undefined {
  if (isMissing(error)) return undefined
  throw error
}
