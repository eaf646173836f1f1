import { classNames } from './class-names.ts'
import table from './table.module.css'

export interface Column {
  readonly title: string
  /** A class that says how wide it is; without one it takes what is left. */
  readonly width?: string | undefined
  /** Numbers stand at the right; what is roomy is left out where there is no room. */
  readonly look?: 'right' | 'roomy'
}

export function TableHead({ columns }: { readonly columns: readonly Column[] }) {
  return (
    <>
      <colgroup>
        {columns.map(({ title, width, look }) => (
          <col key={title} className={classNames(width, look === 'roomy' && table.roomy)} />
        ))}
      </colgroup>
      <thead>
        <tr>
          {columns.map(({ title, look }) => (
            <th key={title} scope="col" className={look && table[look]}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
    </>
  )
}
